/** Expectations shared by several end-to-end tests. */
import { expect } from 'chai';
import type { Baresip } from '../phones/baresip.ts';
import type { Phone } from '../phones/phone.ts';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { RestAnswer } from '../phones/rest-client.ts';

/** The sound is complete: no lost, duplicate or disordered packets, one source, matching timestamps. */
export function expectCleanRtp(...calls: readonly PhoneCall[]): void {
  for (const call of calls) {
    expect(call.rtp().received, 'RTP packets received').to.be.greaterThan(0);
    expect(call.rtp()).to.include({ lost: 0, outOfOrder: 0, duplicates: 0, ssrcChanges: 0, timestampJumps: 0 });
  }
}

/** Each hears the tone of the other. */
export async function expectTalk(one: PhoneCall, other: PhoneCall): Promise<void> {
  one.play(440);
  other.play(620);
  await Promise.all([one.hears(620), other.hears(440)]);
}

export interface ErrorObject {
  readonly error_code: number;
  readonly error_message: string;
  readonly error_details?: { readonly field?: string; readonly reason?: string };
}

/** Expects the error object of the specification, with this status and code. */
export function expectError(answer: RestAnswer, status: number, code: number): ErrorObject {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.header('content-type')).to.match(/^application\/json/);
  const error = answer.json<ErrorObject>();
  expect(error.error_code, answer.text).to.equal(code);
  expect(error.error_message).to.be.a('string').and.not.equal('');
  return error;
}

/** Whether a promise has settled, without waiting for it. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const { promise: soon, resolve } = Promise.withResolvers<typeof pending>();
  setImmediate(() => resolve(pending));
  return (await Promise.race([promise.then(() => true), soon])) !== pending;
}

/** The status lines of the NOTIFYs for a phone's REFER, up to the last one. */
export async function referProgress(call: PhoneCall): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const notify = await call.notifies.next(5000);
    lines.push(notify.body.trim());
    const state = notify.headers.find(({ name }) => name === 'Subscription-State')?.value ?? '';
    if (state.startsWith('terminated')) return lines;
  }
}

/** Alice (101) and baresip as carol (103, a tone of 500 Hz) call each other; alice holds, and each of them hangs up once. */
export async function expectCallsBothWays(alice: Phone, carol: Baresip): Promise<void> {
  carol.dial('sip:101@demo.local');
  const incoming = await alice.incoming();
  incoming.ring();
  await incoming.answer();
  await carol.event('CALL_ESTABLISHED');
  incoming.play(620);
  await Promise.all([incoming.hears(500), carol.hears(620)]);
  carol.hangup();
  expect((await incoming.ended()).by).to.equal('there');
  await carol.event('CALL_CLOSED');
  const outgoing = await alice.call('103');
  await carol.event('CALL_INCOMING');
  carol.accept();
  await outgoing.answered();
  await outgoing.hears(500);
  await outgoing.hold();
  await outgoing.unhold();
  await outgoing.hears(500);
  await outgoing.hangup();
  await carol.event('CALL_CLOSED');
}
