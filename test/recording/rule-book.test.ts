import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { Change, Collection, RecordingRuleRow } from '../../runtime/domain/index.ts';
import type { MediaEndpoint } from '../../runtime/media/index.ts';
import type { RecordedCall, RecordedLeg } from '../../runtime/recording/call.ts';
import { RuleBook } from '../../runtime/recording/index.ts';

const ROW: RecordingRuleRow = {
  id: 'r1',
  domain_id: 'd1',
  name: '',
  enabled: true,
  priority: 100,
  sipuser_id: null,
  direction: 'any',
  number_pattern: '%',
  record: true,
  storage: '',
  permit_pause: true,
  opts: {},
  ext: {},
};

function leg(side: 'a' | 'b', number: string, more: Partial<RecordedLeg> = {}): RecordedLeg {
  const account = { login: `login${number}`, sipUserId: `id${number}` };
  return { callid: side, side, endpoint: undefined, domain: asDomainName('one'), number, uri: '', ...account, ...more };
}

const CALL: RecordedCall = {
  dialogid: 'd',
  inviteid: 'i',
  pausedRecordings: new Set(),
  legs: [leg('a', '101'), leg('b', '102')],
};

describe('recording rules', () => {
  let change: (change: Change<RecordingRuleRow>) => void;

  async function book(...rows: readonly Partial<RecordingRuleRow>[]): Promise<RuleBook> {
    const rules = {
      list: async () => rows.map((row) => ({ ...ROW, ...row })),
      onChange: (listener: typeof change) => {
        change = listener;
        return () => undefined;
      },
      onReset: () => () => undefined,
    } as unknown as Collection<RecordingRuleRow>;
    const subject = new RuleBook(rules, (name) => (name === 'one' ? 'd1' : undefined));
    await subject.open();
    return subject;
  }

  const decides = async (row: Partial<RecordingRuleRow>, call = CALL): Promise<boolean> =>
    (await book(row)).decide(call).has(asDomainName('one'));

  it("match account, direction and the other party's number", async () => {
    expect(await decides({})).to.equal(true);
    expect(await decides({ enabled: false })).to.equal(false);
    expect(await decides({ sipuser_id: 'id101' })).to.equal(true);
    expect(await decides({ sipuser_id: 'id109' })).to.equal(false);
    expect(await decides({ sipuser_id: 'id101', direction: 'out' })).to.equal(true);
    expect(await decides({ sipuser_id: 'id101', direction: 'in' })).to.equal(false);
    expect(await decides({ sipuser_id: 'id101', number_pattern: '102' })).to.equal(true);
    expect(await decides({ sipuser_id: 'id101', number_pattern: '101' })).to.equal(false);
    expect(await decides({ direction: 'in', number_pattern: 'login101' })).to.equal(true);
    expect(await decides({ number_pattern: '1?3' })).to.equal(false);
  });

  it('see a call by a trunk or with a scenario as the account does, if any', async () => {
    const none = { login: undefined, sipUserId: undefined };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its presence counts
    const endpoint = {} as MediaEndpoint;
    const account = (side: 'a' | 'b') => leg(side, '101', { endpoint });
    const trunk = (side: 'a' | 'b') => leg(side, '0123', { ...none, endpoint });
    const scenario = (side: 'a' | 'b') => leg(side, 'menu', none);
    for (const [a, b, direction] of [
      [account, trunk, 'out'],
      [trunk, account, 'in'],
      [account, scenario, 'out'],
      [scenario, account, 'in'],
      [trunk, scenario, 'in'],
      [scenario, trunk, 'out'],
    ] as const) {
      const call = { ...CALL, legs: [a('a'), b('b')] };
      const matching = await Promise.all(
        (['in', 'out'] as const).map(async (each) => ((await decides({ direction: each }, call)) ? [each] : [])),
      );
      expect(matching.flat()).to.deep.equal([direction]);
    }
  });

  it('belong to the participating domains', async () => {
    expect(await decides({ domain_id: 'd2' })).to.equal(false);
    const foreign = {
      ...CALL,
      legs: [leg('a', '101', { domain: asDomainName('two') }), leg('b', '102', { domain: asDomainName('two') })],
    };
    expect(await decides({}, foreign)).to.equal(false);
    const mixed = { ...CALL, legs: [leg('a', '101', { domain: asDomainName('two') }), leg('b', '102')] };
    expect(await decides({ direction: 'in' }, mixed)).to.equal(true);
    expect(await decides({ direction: 'out' }, mixed)).to.equal(false);
  });

  it('apply in order of priority, then id', async () => {
    const subject = await book(
      { id: 'b', priority: 5 },
      { id: 'c', priority: 1, record: false },
      { id: 'a', priority: 5 },
    );
    expect(subject.decide(CALL).get(asDomainName('one'))?.id).to.equal('c');
    change({ before: { ...ROW, id: 'c' }, after: undefined });
    expect(subject.decide(CALL).get(asDomainName('one'))?.id).to.equal('a');
  });

  it('follow changes', async () => {
    const subject = await book();
    expect(subject.decide(CALL).size).to.equal(0);
    change({ before: undefined, after: ROW });
    expect(subject.decide(CALL).get(asDomainName('one'))).to.include({ id: 'r1', record: true, transcribe: false });
    change({ before: ROW, after: { ...ROW, record: false, opts: { transcribe: true } } });
    expect(subject.decide(CALL).get(asDomainName('one'))).to.include({ record: false, transcribe: true });
  });
});
