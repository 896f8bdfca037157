import { expect } from 'chai';
import type { CallFacts, LegFacts } from '../../runtime/callstore/index.ts';
import { Ladder } from '../../runtime/ladder/index.ts';

const SERVER = 'udp/192.0.2.1:5060';
const MIB = 1_048_576;

/** A frame with a message received from, or a request sent to, a far end. */
function received(from: string, start: string, callid: string, cseq: string, branch: string, size = 500): string {
  const [address, port] = from.split(':');
  const head = `id|sip|network|${size}|${size === 0 ? 'unknown' : 'udp'}|${address ?? ''}|${port ?? '0'}||txn|dialog|`;
  return `${head}\r\n${message(start, callid, cseq, branch)}`;
}

function sent(start: string, callid: string, cseq: string, branch: string): string {
  const head = 'id|response|msg|OK|application|500|udp|192.0.2.1|5060||txn|Msg sent:|';
  return `${head}\r\n${message(start, callid, cseq, branch)}`;
}

function message(start: string, callid: string, cseq: string, branch: string): string {
  return `${start}\r\nv: SIP/2.0/UDP 192.0.2.1;branch=${branch}\r\ni: ${callid}\r\nCSeq: ${cseq}\r\n\r\n`;
}

function leg(callid: string, domain: string, more: Partial<LegFacts> = {}): LegFacts {
  const party = { kind: 'sipuser' as const, domain, number: '101', name: null };
  return { side: 'a', callid, party, began: 0, status: null, reason: null, ...more };
}

function facts(id: string, legs: readonly LegFacts[], more: Partial<CallFacts> = {}): CallFacts {
  const end = { at: Date.now(), by: 'a' as const, status: 487, reason: '' };
  const call = {
    id,
    dialogid: `dialog-${id}`,
    dialled: '102',
    dialledDomain: 'one',
    began: Date.now(),
    legs,
    labels: [],
  };
  return { ...call, replaced: [], replacedBy: [], end, ...more };
}

describe('the ladder of a call', () => {
  let live: readonly CallFacts[] = [];
  let ladder: Ladder;
  beforeEach(() => {
    live = [];
    ladder = new Ladder({
      limit: MIB,
      liveCalls: (id) => live.filter((call) => call.id === id || call.operation?.id === id),
    });
  });
  afterEach(() => ladder.close());
  const keep = (...frames: readonly string[]) => frames.forEach((frame) => ladder.keep(frame, SERVER));
  const starts = async (id: string, domain = 'one') =>
    (await ladder.of(domain, id))?.messages.map(({ text }) => text.split('\r\n')[0]);

  it('has the messages of legs of the domain only', async () => {
    keep(received('192.0.2.4:1', 'INVITE sip:102@x SIP/2.0', 'leg-1', '1 INVITE', 'b1'));
    keep(received('192.0.2.5:1', 'BYE sip:x SIP/2.0', 'leg-2', '1 BYE', 'b2'));
    ladder.over(facts('call', [leg('leg-1', 'one'), leg('leg-2', 'two')]));
    expect(await starts('call')).to.deep.equal(['INVITE sip:102@x SIP/2.0']);
    expect(await starts('leg-1', 'two')).to.deep.equal(['BYE sip:x SIP/2.0']);
    expect(await starts('call', 'three')).to.equal(undefined);
    expect(await starts('leg')).to.equal(undefined);
  });

  it('a message that only names the Call-ID of a leg is not one of it', async () => {
    keep(received('192.0.2.4:1', 'INVITE sip:x?Replaces=leg-1 SIP/2.0', 'leg-10', '1 INVITE', 'b1'));
    ladder.over(facts('call', [leg('leg-1', 'one')]));
    expect(await starts('call')).to.deep.equal([]);
  });

  it("a trunk's leg has the Call-ID between provider and platform", async () => {
    keep(received('192.0.2.4:1', 'INVITE sip:102@x SIP/2.0', 'of-the-provider', '1 INVITE', 'b1'));
    ladder.over(facts('call', [leg('of-the-platform', 'one', { trunkCallid: 'of-the-provider' })]));
    for (const id of ['call', 'dialog-call', 'of-the-platform', 'of-the-provider'])
      expect(await starts(id)).to.have.length(1);
  });

  it('follows the chain of transfers, and calls of the same operation, live and ended', async () => {
    for (const id of ['1', '2', '3', '4'])
      keep(received('192.0.2.4:1', `INFO sip:${id} SIP/2.0`, `leg-${id}`, '1 INFO', id));
    ladder.over(facts('first', [leg('leg-1', 'one')], { replacedBy: ['second'] }));
    live = [facts('second', [leg('leg-2', 'one')], { replaced: ['first'], operation: { id: 'op', domain: 'one' } })];
    ladder.over(facts('third', [leg('leg-3', 'one')], { operation: { id: 'op', domain: 'one' } }));
    ladder.over(facts('fourth', [leg('leg-4', 'one')]));
    for (const id of ['first', 'second', 'third', 'op'])
      expect(await starts(id), id).to.deep.equal(['INFO sip:1 SIP/2.0', 'INFO sip:2 SIP/2.0', 'INFO sip:3 SIP/2.0']);
  });

  it('a request that was sent over UDP went to where its response came from', async () => {
    keep(
      sent('INVITE sip:bob@10.0.0.9 SIP/2.0', 'leg-1', '1 INVITE', 'b1'),
      received('192.0.2.4:4000', 'SIP/2.0 200 OK', 'leg-1', '1 INVITE', 'b1'),
      sent('ACK sip:bob@10.0.0.9 SIP/2.0', 'leg-1', '1 ACK', 'b2'),
      sent('BYE sip:bob@10.0.0.9 SIP/2.0', 'leg-1', '2 BYE', 'b3'),
      received('192.0.2.5:5000', 'SIP/2.0 200 OK', 'leg-1', '2 BYE', 'b3'),
    );
    keep(sent('INVITE sip:carol@10.0.0.9:7 SIP/2.0', 'leg-2', '1 INVITE', 'b4'));
    keep(received('', 'SIP/2.0 408 Request Timeout', 'leg-2', '1 INVITE', 'b4', 0));
    ladder.over(facts('call', [leg('leg-1', 'one'), leg('leg-2', 'one')]));
    const messages = (await ladder.of('one', 'call'))?.messages ?? [];
    expect(messages.map(({ to, from, wire }) => [from, to, wire])).to.deep.equal([
      ['192.0.2.1:5060', '192.0.2.4:4000', true],
      ['192.0.2.4:4000', '192.0.2.1:5060', true],
      ['192.0.2.1:5060', '192.0.2.4:4000', true],
      ['192.0.2.1:5060', '192.0.2.5:5000', true],
      ['192.0.2.5:5000', '192.0.2.1:5060', true],
      ['192.0.2.1:5060', '10.0.0.9:7', true],
      ['', '192.0.2.1:5060', false],
    ]);
  });

  it('says when older messages are gone, and never takes more than its limit', async () => {
    ladder.over(facts('call', [leg('leg-1', 'one')], { began: Date.now() - 1 }));
    keep(received('192.0.2.4:1', 'INFO sip:1 SIP/2.0', 'leg-1', '1 INFO', '1'));
    expect((await ladder.of('one', 'call'))?.complete).to.equal(true);
    const filler = received('192.0.2.4:1', 'INFO sip:1 SIP/2.0', 'leg-2', '1 INFO', 'x'.repeat(10_000));
    for (let count = 0; count < 200; count += 1) keep(filler);
    expect(ladder.bytes).to.be.at.most(MIB);
    expect(await ladder.of('one', 'call'), 'dropped with its messages').to.equal(undefined);
    live = [facts('old', [leg('leg-2', 'one')], { began: Date.now() - 60_000 })];
    expect((await ladder.of('one', 'old'))?.complete).to.equal(false);
  });

  it('keeps no REGISTER and OPTIONS, and no frames without a message', () => {
    keep(received('192.0.2.4:1', 'REGISTER sip:x SIP/2.0', 'r', '1 REGISTER', 'b1'));
    keep(received('192.0.2.4:1', 'SIP/2.0 200 OK', 'r', '1 OPTIONS', 'b1'), 'id|response|msg|OK');
    expect(ladder.bytes).to.equal(0);
  });
});
