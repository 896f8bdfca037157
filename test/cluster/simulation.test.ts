import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { MemoryCallStore, type SharedCall } from '../../runtime/callstore/index.ts';
import { ClusterCallStore } from '../../runtime/cluster/calls/cluster-callstore.ts';
import { Losses } from '../../runtime/cluster/loss/losses.ts';
import { Settlements } from '../../runtime/cluster/loss/settlements.ts';
import type { Member } from '../../runtime/cluster/members/member.ts';
import { DEAD_MS, type MembershipListener } from '../../runtime/cluster/members/membership.ts';
import type { Nodes } from '../../runtime/cluster/nodes.ts';
import { Random } from '../model/support/random.ts';
import { callOf, DOMAIN, numberOf } from './support/made-call.ts';

const NODES = 100;
const CALLS = 100_000;
const DEAD = 10;
/** Milliseconds of the virtual clock for a request to another node and its answer. */
const LATENCY = { from: 0.2, to: 5 };
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** A cluster without a network: requests are calls, and a clock that only the requests move. */
class Simulation {
  /** Milliseconds. */
  now = 0;
  readonly random = new Random(26);
  readonly nodes: SimulatedNode[] = [];
  /** What each process kept at NATS. */
  readonly kept = new Map<string, Map<string, SharedCall>>();
  readonly claims = new Map<string, string>();

  constructor() {
    for (let at = 0; at < NODES; at += 1) this.nodes.push(new SimulatedNode(this, `n${at}`));
  }

  get living(): SimulatedNode[] {
    return this.nodes.filter(({ isDead }) => !isDead);
  }

  /** A SIP server gives new calls to the nodes in turn. */
  place(index: number): SharedCall {
    const { living } = this;
    const call = callOf(index);
    living[index % living.length]?.take(call);
    return call;
  }
}

class SimulatedNode {
  readonly id: string;
  isDead = false;
  readonly store = new MemoryCallStore(() => undefined);
  readonly everywhere: ClusterCallStore;
  readonly losses: Losses;
  readonly #simulation: Simulation;
  readonly #handlers = new Map<string, (parameters: unknown) => unknown>();
  readonly listeners: MembershipListener[] = [];

  constructor(simulation: Simulation, id: string) {
    this.id = id;
    this.#simulation = simulation;
    simulation.kept.set(id, new Map());
    const nodes = {
      serve: (method: string, handler: (parameters: unknown) => unknown) => this.#handlers.set(method, handler),
      askAll: (method: string, parameters: unknown) => this.#askAll(method, parameters),
    } as unknown as Nodes;
    this.everywhere = new ClusterCallStore(this.store, nodes);
    this.losses = new Losses({
      id,
      members: {
        others: [],
        self: undefined,
        silenceMs: 0,
        stoodStill: false,
        meet: ignore,
        listen: (listener) => this.listeners.push(listener),
      },
      nodes,
      settlements: new Settlements(),
      index: {
        read: (of) =>
          Promise.resolve({
            call: [...(simulation.kept.get(of) ?? [])].map(([slot, call]) => ({ slot, of: call })),
            farewell: [],
            ringing: [],
            waiting: [],
          }),
        erase: (of, slot) => simulation.kept.get(of)?.delete(slot),
        resend: ignore,
        ids: () => [],
        clear: () => Promise.resolve(),
      },
      whenSent: (callback) => callback(),
      claims: {
        claim: async (name) => {
          // Another node may be first.
          await turn();
          if (simulation.claims.has(name)) return false;
          simulation.claims.set(name, id);
          return true;
        },
        holder: (name) => Promise.resolve(simulation.claims.get(name)),
        inherit: () => Promise.resolve([]),
        done: () => Promise.resolve(true),
        release: () => Promise.resolve(true),
      },
      witness: { tell: () => Promise.resolve(), isAlive: () => Promise.resolve(false) },
      heir: {
        call: async (_node, call, isOurs) => {
          if (await isOurs()) this.take(call);
        },
        invites: ignore,
        farewell: ignore,
        subscriptions: async () => undefined,
        returned: ignore,
        ended: () => [],
      },
      live: (inviteid) => this.store.hasCall(inviteid),
      log: silent,
    });
  }

  take(call: SharedCall): void {
    this.store.put(call.entry);
    this.#simulation.kept.get(this.id)?.set(call.entry.view.dialogid, call);
  }

  async #askAll(method: string, parameters: unknown): Promise<readonly { id: string; answer: unknown }[]> {
    const { living, random } = this.#simulation;
    const asked = JSON.stringify(parameters);
    let slowest = 0;
    const answers = await Promise.all(
      living
        .filter((node) => node !== this)
        .map(async (node) => {
          slowest = Math.max(slowest, LATENCY.from + random.next() * (LATENCY.to - LATENCY.from));
          const answer = (await node.#handlers.get(method)?.(JSON.parse(asked))) ?? null;
          return { id: node.id, answer: JSON.parse(JSON.stringify(answer)) as unknown };
        }),
    );
    // All are asked at once.
    this.#simulation.now += slowest;
    return answers;
  }
}

describe('a simulated cluster of 100 nodes with 100,000 calls', function () {
  this.timeout(60_000);
  const simulation = new Simulation();
  after(() => {
    for (const { losses } of simulation.nodes) losses.close();
  });

  it('places calls evenly, and finds each from any node in one round of requests', async () => {
    for (let index = 0; index < CALLS; index += 1) simulation.place(index);
    expect(new Set(simulation.nodes.map(({ store }) => store.count))).to.deep.equal(new Set([CALLS / NODES]));
    await expectFound(simulation, 100);
  });

  it('nodes that die leave their calls to exactly one other each, and all are found again', async () => {
    const dead = simulation.nodes.slice(0, DEAD);
    for (const node of dead) node.isDead = true;
    for (const node of simulation.living)
      for (const { id } of dead)
        for (const listener of node.listeners) listener.gone?.({ id, node: id } as Member, false, DEAD_MS);
    while (simulation.claims.size < DEAD) await turn();
    // Each claim is followed by one reading and the calls.
    for (let turns = 0; turns < 10; turns += 1) await turn();
    const all = simulation.living.reduce((sum, { store }) => sum + store.count, 0);
    expect(all).to.equal(CALLS);
    await expectFound(simulation, 100);
  });
});

async function expectFound(simulation: Simulation, count: number): Promise<void> {
  const { random } = simulation;
  for (let look = 0; look < count; look += 1) {
    const node = random.pick(simulation.living);
    const index = random.below(CALLS);
    const { dialogid, inviteid, callids } = callOf(index).entry.view;
    const selector = random.pick([{ inviteid }, { callid: callids[1] ?? '' }, { from: numberOf(index) }]);
    const before = simulation.now;
    expect(await node.everywhere.lookup({ domain: DOMAIN }, selector)).to.deep.equal([dialogid]);
    expect(simulation.now - before).to.be.at.most(LATENCY.to);
  }
}
