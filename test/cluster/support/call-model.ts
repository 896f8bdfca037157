/** Random calls, changes, kills and restarts in a cluster, beside a simple model of what must be listed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CallFacts } from '../../../runtime/callstore/index.ts';
import { expectTalk } from '../../e2e/expectations.ts';
import { Random } from '../../model/support/random.ts';
import type { IncomingCall } from '../../phones/incoming-call.ts';
import type { OutgoingCall } from '../../phones/outgoing-call.ts';
import type { Phone } from '../../phones/phone.ts';
import type { PhoneCall } from '../../phones/phone-call.ts';
import type { Dialog } from '../../support/dialog.ts';
import { eventually } from '../../support/eventually.ts';
import { CALLS } from '../../support/stage.ts';
import { Lamps } from './lamps.ts';
import { parks, retrieves } from './parking.ts';
import type { TestCluster } from './test-cluster.ts';

const NUMBERS: Readonly<Record<string, string>> = { alice: '101', bob: '102', carol: '103', dave: '104' };
/** drachtio-server answers 481 to what a phone sends within an adopted call. */
const IS_REAL = process.env['RINGMASTER_TEST_DRACHTIO'] !== undefined;
/** Most calls at once. */
const MOST = 7;

/** Slots of parked calls: the scenarios that park in them, and that retrieve from them. */
const SLOTS = [
  { park: 'lot', retrieve: 'out' },
  { park: 'lot708', retrieve: 'out708' },
] as const;
type Slot = (typeof SLOTS)[number];
/** Steps between two looks at the lamps, which show a change within a second. */
const LAMPS_EVERY = 5;

interface Party {
  readonly login: string;
  readonly call: PhoneCall;
}

/** A call as the model knows it. */
interface Call {
  readonly a: Party;
  /** Undefined while the call is parked. */
  b: Party | undefined;
  slot: Slot | undefined;
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
  readonly #lamps: Lamps;
  #steps = 0;
  #isDead = false;

  private constructor(cluster: TestCluster, phones: readonly Phone[], seed: number, lamps: Lamps) {
    this.#cluster = cluster;
    this.#phones = phones;
    this.#random = new Random(seed);
    this.#lamps = lamps;
  }

  /** The last phone has a lamp of each phone at every node. The scenarios for parked calls are there. */
  static async start(cluster: TestCluster, phones: readonly Phone[], seed: number): Promise<CallModel> {
    const watcher = phones.at(-1);
    if (watcher === undefined) throw new Error('no phone');
    return new CallModel(cluster, phones, seed, await Lamps.light(cluster, watcher, NUMBERS));
  }

  /** One random step, after which every living node must list what the model has. */
  async step(): Promise<void> {
    const answered = this.#calls.filter(({ status }) => status === 'dialog');
    const talking = answered.filter(({ b }) => b !== undefined);
    const free = talking.filter(({ adopted }) => !adopted);
    const parked = answered.filter(({ slot }) => slot !== undefined);
    const empty = SLOTS.filter((slot) => !parked.some((call) => call.slot === slot));
    const ringing = this.#calls.filter(({ status }) => status === 'forking');
    const steps: [string, () => Promise<void>][] = [];
    if (this.#calls.length < MOST)
      steps.push(['call', () => this.#call(false)], ['talk', () => this.#call(true)], ['talk', () => this.#call(true)]);
    if (ringing.length > 0) {
      const call = this.#pick(ringing);
      steps.push(['answer', () => this.#answer(call)], ['cancel', () => this.#end(call, () => call.placed.cancel())]);
    }
    if (answered.length > 0) {
      const call = this.#pick(answered);
      const side = this.#pick(partiesOf(call));
      steps.push(['hang up', () => this.#end(call, () => side.call.hangup())]);
      steps.push(['delete', () => this.#end(call, () => this.#delete(call))]);
    }
    const holding = IS_REAL ? free : talking;
    if (holding.length > 0) steps.push(['hold', () => this.#hold(this.#pick(holding))]);
    if (empty.length > 0 && this.#calls.length < MOST) steps.push(['park', () => this.#park(this.#pick(empty))]);
    if (parked.length > 0) for (const _ of parked) steps.push(['retrieve', () => this.#retrieve(this.#pick(parked))]);
    if (free.length > 0) steps.push(['transfer', () => this.#transfer(this.#pick(free))]);
    const [name, run] = this.#pick(steps);
    this.trace.push(name);
    await run();
    this.#steps += 1;
    await (this.#steps % LAMPS_EVERY === 0 ? this.check() : this.#checkLists());
  }

  async kill(): Promise<void> {
    this.trace.push('kill');
    const { node } = this.#cluster.node(2);
    const callids = await liveCallids(join(node.dataDir, 'calls.jsonl'));
    const lost = this.#calls.filter(({ placed }) => callids.has(placed.callId));
    await node.kill();
    this.#isDead = true;
    for (const call of lost) {
      const goesOn = call.status === 'dialog' && !call.held && call.slot === undefined;
      call.adopted = call.status === 'dialog';
      if (!goesOn) this.#remove(call);
      if (!goesOn && call.status === 'dialog') await allEnded(call);
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
    await this.#lamps.end();
  }

  /** Lists and lamps at every living node. */
  async check(): Promise<void> {
    await this.#checkLists();
    const states = (login: string): readonly string[] =>
      this.#calls.flatMap((call) =>
        partiesOf(call)
          .filter((party) => party.login === login)
          .map(() => (call.status === 'dialog' ? 'confirmed' : 'early')),
      );
    await this.#lamps.show(states);
  }

  async #checkLists(): Promise<void> {
    const expected = this.#calls
      .map((call) =>
        lineOf(
          partiesOf(call).map(({ login }) => login),
          call.status,
        ),
      )
      .toSorted();
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
      slot: undefined,
      status: 'forking',
      held: false,
      adopted: false,
      placed,
    };
    this.#calls.push(call);
    if (answered) await this.#answer(call);
  }

  async #answer(call: Call): Promise<void> {
    if (call.b === undefined) throw new Error('a parked call does not ring');
    await (call.b.call as IncomingCall).answer();
    await call.placed.answered();
    call.status = 'dialog';
  }

  async #end(call: Call, end: () => Promise<unknown> | void): Promise<void> {
    await end();
    await allEnded(call);
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
    if (call.held && !call.adopted) await call.b?.call.hearsSound();
  }

  async #park(slot: Slot): Promise<void> {
    const phone = this.#pick(this.#phones);
    const placed = await parks(phone, slot.park);
    const a = { login: phone.login, call: placed };
    this.#calls.push({ a, b: undefined, slot, status: 'dialog', held: false, adopted: false, placed });
  }

  /** Another phone gets the parked party, whichever nodes have their calls. */
  async #retrieve(call: Call): Promise<void> {
    const phone = this.#pick(this.#phones.filter(({ login }) => login !== call.a.login));
    const out = await retrieves(phone, call.slot?.retrieve);
    await expectTalk(call.a.call, out);
    call.b = { login: phone.login, call: out };
    call.slot = undefined;
  }

  /** The called party is replaced by another phone, by any living node. */
  async #transfer(call: Call): Promise<void> {
    if (call.held) await this.#hold(call);
    const { b } = call;
    if (b === undefined) throw new Error('a parked call is not transferred');
    const target = this.#pick(this.#phones.filter(({ login }) => login !== call.a.login && login !== b.login));
    const leaves = b.call;
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

function partiesOf({ a, b }: Call): readonly Party[] {
  return b === undefined ? [a] : [a, b];
}

async function allEnded(call: Call): Promise<void> {
  await Promise.all(partiesOf(call).map((party) => party.call.ended()));
}

/** Call-IDs of the legs of a node's live calls, by its journal. */
async function liveCallids(journal: string): Promise<ReadonlySet<string>> {
  const live = new Map<string, Pick<CallFacts, 'end' | 'legs'>>();
  for (const text of (await readFile(journal, 'utf8')).split('\n')) {
    if (text === '') continue;
    const line = JSON.parse(text) as { readonly call?: CallFacts; readonly done?: readonly string[] };
    if (line.call !== undefined) live.set(line.call.id, line.call);
    for (const id of line.done ?? []) live.delete(id);
  }
  const legs = [...live.values()].filter(({ end }) => end === undefined).flatMap((facts) => facts.legs);
  return new Set(legs.map(({ callid }) => callid));
}

function lineOf(logins: readonly string[], status: string): string {
  return `${logins.toSorted().join(' and ')}: ${status}`;
}

function loginsIn(uris: readonly string[]): string[] {
  return uris.flatMap((uri) => /^<sip:([a-z]+)@/.exec(uri)?.[1] ?? []).filter((login) => login in NUMBERS);
}
