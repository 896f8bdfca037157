/** Random calls, changes, kills and restarts in a cluster, beside a simple model of what must be listed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../model/support/random.ts';
import type { IncomingCall } from '../../phones/incoming-call.ts';
import type { OutgoingCall } from '../../phones/outgoing-call.ts';
import type { Phone } from '../../phones/phone.ts';
import type { PhoneCall } from '../../phones/phone-call.ts';
import type { Dialog } from '../../support/dialog.ts';
import { eventually } from '../../support/eventually.ts';
import { CALLS } from '../../support/stage.ts';
import type { TestCluster } from './test-cluster.ts';

const NUMBERS: Readonly<Record<string, string>> = { alice: '101', bob: '102', carol: '103', dave: '104' };
/** Most calls at once. */
const MOST = 7;

/** A call as the model knows it. */
interface Call {
  readonly a: { readonly login: string; readonly call: PhoneCall };
  b: { readonly login: string; readonly call: PhoneCall };
  status: 'forking' | 'dialog';
  held: boolean;
  /** It was talking when its node died: nothing can be done to it but ending it. */
  adopted: boolean;
  readonly placed: OutgoingCall;
}

/** The dead node is always the last one, so that the others can be asked. */
export class CallModel {
  readonly trace: string[] = [];
  readonly #cluster: TestCluster;
  readonly #phones: readonly Phone[];
  readonly #random: Random;
  readonly #calls: Call[] = [];
  #isDead = false;

  constructor(cluster: TestCluster, phones: readonly Phone[], seed: number) {
    this.#cluster = cluster;
    this.#phones = phones;
    this.#random = new Random(seed);
  }

  /** One random step, after which every living node must list what the model has. */
  async step(): Promise<void> {
    const talking = this.#calls.filter(({ status }) => status === 'dialog');
    const free = talking.filter(({ adopted }) => !adopted);
    const ringing = this.#calls.filter(({ status }) => status === 'forking');
    const steps: [string, () => Promise<void>][] = [];
    if (this.#calls.length < MOST)
      steps.push(['call', () => this.#call(false)], ['talk', () => this.#call(true)], ['talk', () => this.#call(true)]);
    if (ringing.length > 0) {
      const call = this.#pick(ringing);
      steps.push(['answer', () => this.#answer(call)], ['cancel', () => this.#end(call, () => call.placed.cancel())]);
    }
    if (talking.length > 0) {
      const call = this.#pick(talking);
      const side = this.#pick([call.a, call.b]);
      steps.push(['hang up', () => this.#end(call, () => side.call.hangup())]);
      steps.push(['delete', () => this.#end(call, () => this.#delete(call))]);
      steps.push(['hold', () => this.#hold(call)]);
    }
    if (free.length > 0) steps.push(['transfer', () => this.#transfer(this.#pick(free))]);
    const [name, run] = this.#pick(steps);
    this.trace.push(name);
    await run();
    await this.check();
  }

  async kill(): Promise<void> {
    this.trace.push('kill');
    const { node } = this.#cluster.node(2);
    const journal = await readFile(join(node.dataDir, 'calls.jsonl'), 'utf8');
    const lost = this.#calls.filter(({ placed }) => journal.includes(placed.callId));
    await node.kill();
    this.#isDead = true;
    for (const call of lost) {
      const goesOn = call.status === 'dialog' && !call.held;
      call.adopted = call.status === 'dialog';
      if (!goesOn) this.#remove(call);
      if (!goesOn && call.status === 'dialog') await Promise.all([call.a.call.ended(), call.b.call.ended()]);
    }
    await this.check();
  }

  async restart(): Promise<void> {
    this.trace.push('restart');
    await this.#cluster.node(2).node.restart();
    await this.#cluster.joined();
    this.#isDead = false;
    await this.check();
  }

  /** Ends all calls by phones. */
  async end(): Promise<void> {
    for (let [call] = this.#calls; call !== undefined; [call] = this.#calls) {
      const { placed, a, status } = call;
      await this.#end(call, () => (status === 'forking' ? placed.cancel() : a.call.hangup()));
    }
    await this.check();
  }

  async check(): Promise<void> {
    const expected = this.#calls.map(({ a, b, status }) => lineOf([a.login, b.login], status)).toSorted();
    await eventually(async () => {
      for (const at of this.#living()) {
        const listed = (await this.#cluster.node(at).rest.get(CALLS)).json<Dialog[]>();
        expect(listed.map(({ uris, status }) => lineOf(loginsIn(uris), status)).toSorted()).to.deep.equal(expected);
      }
    }, 15_000);
  }

  #living(): readonly number[] {
    return this.#isDead ? [0, 1] : [0, 1, 2];
  }

  #rest() {
    return this.#cluster.node(this.#pick(this.#living())).rest;
  }

  #pick<Item>(items: readonly Item[]): Item {
    return this.#random.pick(items);
  }

  async #call(answered: boolean): Promise<void> {
    const from = this.#pick(this.#phones);
    const to = this.#pick(this.#phones.filter((phone) => phone !== from));
    const placed = await from.call(NUMBERS[to.login] ?? '');
    const incoming = await to.incoming();
    incoming.ring();
    await placed.ringing();
    const call: Call = {
      a: { login: from.login, call: placed },
      b: { login: to.login, call: incoming },
      status: 'forking',
      held: false,
      adopted: false,
      placed,
    };
    this.#calls.push(call);
    if (answered) await this.#answer(call);
  }

  async #answer(call: Call): Promise<void> {
    await (call.b.call as IncomingCall).answer();
    await call.placed.answered();
    call.status = 'dialog';
  }

  async #end(call: Call, end: () => Promise<unknown> | void): Promise<void> {
    await end();
    await Promise.all([call.a.call.ended(), call.b.call.ended()]);
    this.#remove(call);
  }

  /** By any living node. */
  async #delete({ placed }: Call): Promise<void> {
    const answer = await this.#rest().send('DELETE', `${CALLS}?callid=${encodeURIComponent(placed.callId)}`);
    expect(answer.status, answer.text).to.equal(200);
  }

  async #hold(call: Call): Promise<void> {
    const phone = call.a.call;
    if (call.held) await phone.unhold();
    else await phone.hold();
    call.held = !call.held;
    // With the melody, the sound of both is parted.
    if (call.held && !call.adopted) await call.b.call.hearsSound();
  }

  /** The called party is replaced by another phone, by any living node. */
  async #transfer(call: Call): Promise<void> {
    if (call.held) await this.#hold(call);
    const target = this.#pick(this.#phones.filter(({ login }) => login !== call.a.login && login !== call.b.login));
    const leaves = call.b.call;
    const body = { callid: call.placed.callId, by: leaves.callId, referto: NUMBERS[target.login], response_mode: 4 };
    const moving = this.#rest().send('REFER', CALLS, { body });
    const incoming = await target.incoming();
    await incoming.answer();
    const answer = await moving;
    expect(answer.status, answer.text).to.equal(200);
    await leaves.ended();
    call.b = { login: target.login, call: incoming };
  }

  #remove(call: Call): void {
    this.#calls.splice(this.#calls.indexOf(call), 1);
  }
}

function lineOf(logins: readonly string[], status: string): string {
  return `${logins.toSorted().join(' and ')}: ${status}`;
}

function loginsIn(uris: readonly string[]): string[] {
  return uris.flatMap((uri) => /^<sip:([a-z]+)@/.exec(uri)?.[1] ?? []);
}
