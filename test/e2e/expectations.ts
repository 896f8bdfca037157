import { expect } from 'chai';
import type { PhoneCall } from '../phones/phone-call.ts';
import type { RestAnswer } from '../phones/rest-client.ts';

/** What several tests of the whole system expect in the same words. */

/** The sound came whole: nothing lost, doubled or out of order, one source, timestamps that fit. */
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

/** The error object of the specification, with this status and code. */
export function expectError(answer: RestAnswer, status: number, code: number): ErrorObject {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.header('content-type')).to.match(/^application\/json/);
  const error = answer.json<ErrorObject>();
  expect(error.error_code, answer.text).to.equal(code);
  expect(error.error_message).to.be.a('string').and.not.equal('');
  return error;
}

/** Whether a promise has settled by now, without waiting for it. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const { promise: soon, resolve } = Promise.withResolvers<typeof pending>();
  setImmediate(() => resolve(pending));
  return (await Promise.race([promise.then(() => true), soon])) !== pending;
}

/** The status lines that the phone was told until its REFER was over. */
export async function referProgress(call: PhoneCall): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const notify = await call.notifies.next(5000);
    lines.push(notify.body.trim());
    const state = notify.headers.find(({ name }) => name === 'Subscription-State')?.value ?? '';
    if (state.startsWith('terminated')) return lines;
  }
}
