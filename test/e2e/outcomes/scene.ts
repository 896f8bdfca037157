import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import type { Phone } from '../../phones/phone.ts';
import type { RestAnswer, RestClient } from '../../phones/rest-client.ts';
import { observeFor } from '../../phones/wait.ts';
import { eventually } from '../../support/eventually.ts';
import { CALLS } from '../../support/stage.ts';
import { settled } from '../expectations.ts';
import type { Account, Casting } from './cast.ts';

export const MODES = [0, 1, 2, 3, 4, 5] as const;
export type Mode = (typeof MODES)[number];
export const ROLES = ['x', 'y', 'z'] as const;
export type Role = (typeof ROLES)[number];

/** Milliseconds in which a premature answer would have arrived. */
const TOO_EARLY_MS = 40;

/** Milliseconds to wait for an event, also when several rows share a busy machine. */
export const LATE_MS = 15_000;

/** The fields of an operation's answer, from the tables of the specification. */
export interface Answers {
  /** Fields of every answer. */
  readonly always: readonly string[];
  /** Additional fields in modes 3 to 5. */
  readonly target: readonly string[];
  /** Fields of an answer that reports a refusal by T. */
  readonly refusedByTarget: readonly string[];
  /** Field with the last SIP response of T. */
  readonly last: string;
}

/** One row of the table: its parties, its request, and the events seen by the parties. */
export class Scene {
  readonly mode: Mode;
  readonly rest: RestClient;
  readonly accounts: Readonly<Record<Role, Account>>;
  readonly #phones: Readonly<Record<Role, Phone>>;
  readonly #answers: Answers;
  #asked: Promise<RestAnswer> | undefined;
  #answer: Readonly<Record<string, unknown>> | undefined;

  private constructor(
    mode: Mode,
    rest: RestClient,
    answers: Answers,
    accounts: Scene['accounts'],
    phones: Readonly<Record<Role, Phone>>,
  ) {
    this.mode = mode;
    this.rest = rest;
    this.#answers = answers;
    this.accounts = accounts;
    this.#phones = phones;
  }

  static async set(casting: Casting, rest: RestClient, mode: Mode, answers: Answers): Promise<Scene> {
    const accounts = { x: casting.next(), y: casting.next(), z: casting.next() };
    const [x, y, z] = [
      await casting.phone(accounts.x),
      await casting.phone(accounts.y),
      await casting.phone(accounts.z),
    ];
    return new Scene(mode, rest, answers, accounts, { x, y, z });
  }

  get x(): Phone {
    return this.#phones.x;
  }

  get y(): Phone {
    return this.#phones.y;
  }

  get z(): Phone {
    return this.#phones.z;
  }

  number(role: Role): string {
    return this.accounts[role].number;
  }

  uri(role: Role): string {
    return this.accounts[role].uri;
  }

  /** Sends the request of the row. */
  ask(method: string, path: string, body: object): void {
    this.#asked = this.rest.send(method, path, { body: { response_mode: this.mode, ...body } });
    this.#asked.catch(() => undefined);
  }

  /** `from` calls `to`, which answers. */
  async connect(from: Role, to: Role): Promise<{ outgoing: PhoneCall; incoming: PhoneCall; dialogid: string }> {
    const outgoing = await this.#phones[from].call(this.number(to));
    const incoming = await this.#phones[to].incoming(LATE_MS);
    await incoming.answer();
    await outgoing.answered();
    const found = await this.rest.send('LOOKUP', CALLS, { body: { callid: incoming.callId } });
    const [dialogid = ''] = found.json<string[]>();
    return { outgoing, incoming, dialogid };
  }

  /**
   * Expects an answer if the mode waits for this milestone or an earlier one, and none otherwise.
   * @param last the last answer of T, from mode 3 on
   */
  async reached(milestone: Mode, last?: string): Promise<void> {
    if (this.#answer !== undefined) return;
    if (this.mode > milestone) {
      await observeFor(TOO_EARLY_MS);
      expect(await settled(this.#request()), `answered at milestone ${milestone}`).to.equal(false);
      return;
    }
    const { always, target } = this.#answers;
    const answer = await this.#answered();
    expect(answer['result'], JSON.stringify(answer)).to.equal('ok');
    expect(Object.keys(answer)).to.have.members(this.mode < 3 ? always : [...always, ...target]);
    if (last !== undefined && this.mode >= 3) expect(answer[this.#answers.last]).to.equal(last);
  }

  /** F refused or did not answer: every waiting mode is answered. */
  async failedAtF(
    result: 'rejected' | 'redirected' | 'error',
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    if (this.#answer !== undefined) return;
    const answer = await this.#answered();
    expect(answer).to.include({ result, ...more });
    expect(besideWhy(answer)).to.have.members([...this.#answers.always, ...Object.keys(more)]);
  }

  /** T refused. */
  async failedAtT(last: string | RegExp, result: 'rejected' | 'redirected' = 'rejected'): Promise<void> {
    if (this.#answer !== undefined) return;
    const answer = await this.#answered();
    expect(answer['result'], JSON.stringify(answer)).to.equal(result);
    expect(besideWhy(answer)).to.have.members(this.#answers.refusedByTarget);
    const found = String(answer[this.#answers.last]);
    expect(found).to.match(new RegExp(`^SIP/2\\.0 ${String(answer[`${party(this.#answers.last)}sip_status`])} `));
    if (typeof last === 'string') expect(found).to.equal(last);
    else expect(found).to.match(last);
  }

  /** Two events at once: each of these results is right. */
  async answeredWith(results: readonly string[]): Promise<void> {
    if (this.#answer !== undefined) return;
    const answer = await this.#answered();
    expect(answer['result'], JSON.stringify(answer)).to.be.oneOf(results);
    for (const field of this.#answers.always) expect(answer, JSON.stringify(answer)).to.have.property(field);
  }

  /** Two events at once: the request was refused, or the operation was done. */
  async answeredWithOneOf(statuses: readonly number[]): Promise<number> {
    const { status, text } = await this.#request();
    expect(status, text).to.be.oneOf(statuses);
    this.#answer ??= {};
    return status;
  }

  /** From mode 3 on the answer names the target dialog: it exists, with the A leg named by the answer. */
  async expectTargetDialog(prefix: '' | 'new_' | 'x_new_' | 'y_new_', status: 'forking' | 'dialog'): Promise<void> {
    if (this.mode < 3 || this.#answer === undefined) return;
    const { [`${prefix}dialogid`]: id, [`${prefix}acallid`]: acallid } = this.answer;
    // The media server processes the answer of a phone before the dialog is established.
    await eventually(async () => {
      const dialog = await this.rest.get(`${CALLS}/${String(id)}`);
      expect(dialog.json(), dialog.text).to.include({ dialogid: id, acallid, status });
    });
  }

  /** The operation is over; its caller may have been answered long before. */
  async operationEnded(): Promise<void> {
    const asked = await this.#request();
    const operation = asked.header('operation-id');
    if (operation === undefined) return;
    await eventually(async () => {
      const record = (await this.rest.get(`/rest/v1/uc/operations/${operation}`)).json<Record<string, unknown>>();
      expect(record, `operation ${operation} goes on`).to.have.property('endts');
      if (asked.status !== 200) return;
      expect(record['response']).to.deep.equal(asked.json());
      // A failure is answered at once, and the last mode at the end: nothing follows either.
      const { result } = asked.json<{ result: string }>();
      if (result !== 'ok' && result !== 'undefined') expect(record['result']).to.equal(result);
      else expect(record['result']).to.be.oneOf(['ok', 'rejected', 'redirected', 'error', 'undefined']);
      if (this.mode === MODES.at(-1)) expect(record['fields']).to.deep.equal(asked.json());
    });
  }

  /** Another party hung up meanwhile: if the phone was called, the call is cancelled. */
  async cancelledIfCalled(phone: Phone): Promise<void> {
    await this.operationEnded();
    // Earlier messages to the phone are read in this turn of the event loop.
    await setImmediate();
    while (phone.waitingCalls > 0) {
      const call = await phone.incoming(LATE_MS);
      expect((await call.ended()).by).to.equal('cancelled');
    }
  }

  /** The header with which a phone redirects a call. */
  elsewhere(user: string): { headers: { name: string; value: string }[] } {
    return { headers: [{ name: 'Contact', value: `<sip:${user}@demo.local>` }] };
  }

  /** The answer of the request. */
  get answer(): Readonly<Record<string, unknown>> {
    if (this.#answer === undefined) throw new Error('the caller is not answered yet');
    return this.#answer;
  }

  /** No phone rings or talks, and no dialog or operation is left. */
  async expectNothingLeft(): Promise<void> {
    for (const { number } of Object.values(this.accounts)) {
      await eventually(async () => {
        const answer = await this.rest.send('LOOKUP', CALLS, { body: { sipuserphonenumber: number } });
        expect(answer.status, `a dialog of ${number} is left: ${answer.text}`).to.equal(404);
      });
    }
    for (const phone of Object.values(this.#phones)) {
      expect(phone.waitingCalls, `calls at ${phone.login}`).to.equal(0);
      expect(phone.violations).to.deep.equal([]);
    }
    await this.operationEnded();
  }

  traces(): string {
    const lines = ROLES.flatMap((role) => [`--- ${role}`, ...this.#phones[role].trace().slice(-40)]);
    return lines.join('\n');
  }

  async clear(): Promise<void> {
    await Promise.all(ROLES.map(async (role) => this.#phones[role].stop().catch(() => undefined)));
  }

  #request(): Promise<RestAnswer> {
    if (this.#asked === undefined) throw new Error('nothing was asked');
    return this.#asked;
  }

  async #answered(): Promise<Readonly<Record<string, unknown>>> {
    const late = observeFor(LATE_MS).then(() => undefined);
    const answer = await Promise.race([this.#request(), late]);
    if (answer === undefined) throw new Error('the request is not answered');
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.header('operation-id')).to.match(/^[0-9a-f-]{36}$/);
    const body = answer.json<Record<string, unknown>>();
    for (const [name, value] of Object.entries(body)) {
      if (/sipcode|sip_status/.test(name)) expect(value).to.be.within(100, 699);
      else expect(value, name).to.be.a('string').and.not.equal('');
    }
    this.#answer = body;
    return body;
  }
}

/** The behaviour of the parties in a row; it tells the scene the milestones and the end. */
export type Play = (scene: Scene) => Promise<void>;

/** The fields of a failure without those that tell why, which it must have. */
function besideWhy(answer: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(answer);
  const why = names.filter((name) => /^(?:[xy]_)?(?:sip_status|reason)$/.test(name));
  expect(why.length, JSON.stringify(answer)).to.be.oneOf([2, 4]);
  return names.filter((name) => !why.includes(name));
}

/** `x_` of SWITCHCONF's `x_new_last_response`; else empty. */
function party(field: string): string {
  return /^[xy]_/.exec(field)?.[0] ?? '';
}
