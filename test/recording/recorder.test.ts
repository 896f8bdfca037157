import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { RecordRow } from '../../runtime/recording/archive.ts';
import type { RecordedCall, RecordedLeg } from '../../runtime/recording/call.ts';
import type { RecordingTools } from '../../runtime/recording/file-recording.ts';
import { Recorder, RecordingError } from '../../runtime/recording/index.ts';
import type { RecordingRule } from '../../runtime/recording/rule-book.ts';
import type { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import { RecordingNotices } from '../../runtime/media/recording-notices.ts';

/** The commands that a recording gives to its channel, in order. */
class CommandedEndpoint {
  readonly commands: string[] = [];
  readonly server = { recordings: new RecordingNotices() };

  async command(_name: string, args: string): Promise<void> {
    const [action = '', file = ''] = args.split(' ');
    if (!args.includes('RECORD_STEREO')) this.commands.push(action);
    if (action === 'stop') this.server.recordings.notice(file);
  }

  get asEndpoint(): MediaEndpoint {
    return this as unknown as MediaEndpoint;
  }
}

const RULE: RecordingRule = { id: 'r', record: true, permitPause: true, storage: '', transcribe: false };
const OFF: RecordingRule = { ...RULE, id: 'off', record: false };

function leg(side: 'a' | 'b', domain: string, endpoint: CommandedEndpoint | undefined): RecordedLeg {
  const number = side === 'a' ? '101' : '202';
  const uri = `<sip:${number}@${domain}>`;
  const party = { domain: asDomainName(domain), number, login: undefined, sipUserId: undefined, uri };
  return { callid: `${side}@${domain}`, side, endpoint: endpoint?.asEndpoint, ...party };
}

describe('recorder: a call between two domains', () => {
  const rows: RecordRow[] = [];
  let a: CommandedEndpoint;
  let b: CommandedEndpoint;
  let call: RecordedCall;

  const tools = {
    archive: { add: async (row: RecordRow) => void rows.push(row), finish: async () => {} },
    store: {
      spoolFile: (id: string) => `/spool/${id}.wav`,
      linkOf: () => 'fs://none',
      completeFile: async ({ id }: { id: string }) => `/spool/${id}.wav`,
      settled: async () => {},
    },
    tell: () => undefined,
    saved: () => undefined,
    later: () => undefined,
    node: 'test',
    domainId: (name: string) => `id-${name}`,
    failed: () => undefined,
  } as unknown as RecordingTools;

  function recorder(rules: Readonly<Record<string, RecordingRule>>): Recorder {
    return new Recorder(tools, {
      decide: () => new Map(Object.entries(rules).map(([name, rule]) => [asDomainName(name), rule])),
    });
  }

  async function refusal(work: Promise<void>): Promise<string> {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(RecordingError);
    return (error as RecordingError).reason;
  }

  beforeEach(() => {
    rows.length = 0;
    a = new CommandedEndpoint();
    b = new CommandedEndpoint();
    call = {
      dialogid: 'd',
      inviteid: 'i',
      pausedRecordings: new Set(),
      legs: [leg('a', 'one', a), leg('b', 'two', b)],
    };
  });

  it('is recorded once per domain with a matching rule', async () => {
    const subject = recorder({ one: RULE, two: RULE });
    subject.answered(call);
    subject.over('d');
    await subject.settled();
    expect(rows.map(({ domain, domain_id: id }) => [domain, id])).to.deep.equal([
      ['one', 'id-one'],
      ['two', 'id-two'],
    ]);
    expect(a.commands).to.deep.equal(['start', 'start', 'stop', 'stop']);
    expect(b.commands).to.deep.equal([]);
    expect(subject.count).to.equal(0);
  });

  it('is paused for one domain, and continues for the other', async () => {
    const subject = recorder({ one: RULE, two: RULE });
    subject.answered(call);
    await subject.pause('d', asDomainName('two'));
    expect(a.commands).to.deep.equal(['start', 'start', 'mask']);
    expect(await refusal(subject.pause('d', asDomainName('two')))).to.match(/paused already/);
    expect(await refusal(subject.resume(call, asDomainName('one')))).to.match(/not paused/);
    await subject.resume(call, asDomainName('two'));
    expect(a.commands.at(-1)).to.equal('unmask');
  });

  it('is not started by resume against the rule while the other domain records it', async () => {
    const subject = recorder({ one: OFF, two: RULE });
    subject.answered(call);
    expect(await refusal(subject.resume(call, asDomainName('one')))).to.match(/other domain/);
    expect(await refusal(subject.pause('d', asDomainName('one')))).to.match(/not recorded/);
    expect(a.commands).to.deep.equal(['start']);
  });

  it('is started by resume for the requesting domain when neither records it', async () => {
    const subject = recorder({ one: OFF, two: OFF });
    subject.answered(call);
    await subject.resume(call, asDomainName('two'));
    expect(rows.map(({ domain, rule_id: rule }) => [domain, rule])).to.deep.equal([['two', 'off']]);
    expect(await refusal(subject.resume(call, asDomainName('two')))).to.match(/not paused/);
  });

  it('cannot be resumed without a matching rule', async () => {
    const subject = recorder({ two: RULE });
    subject.answered(call);
    expect(await refusal(subject.resume(call, asDomainName('one')))).to.match(/no recording rule/);
    expect(await refusal(subject.pause('other', asDomainName('two')))).to.match(/not recorded/);
  });

  it('is recorded on the other leg, with swapped channels, when the caller is a scenario', async () => {
    const subject = recorder({ two: RULE });
    subject.answered({ ...call, legs: [leg('a', 'one', undefined), leg('b', 'two', b)] });
    subject.over('d');
    await subject.settled();
    expect(b.commands).to.deep.equal(['start', 'stop']);
  });
});
