/** Phones that watch something: a subscription at each node, and what their NOTIFYs say. */
import { expect } from 'chai';
import type { Phone } from '../../phones/phone.ts';
import type { PhoneSubscription } from '../../phones/phone-subscription.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestCluster } from './test-cluster.ts';

const PATIENCE_MS = 15_000;

/** Numbers of subscriptions by node. */
export async function subscriptionsOf(cluster: Pick<TestCluster, 'nodes'>): Promise<number[]> {
  return await Promise.all(cluster.nodes.map(async ({ node }) => (await node.health()).counts['subscriptions'] ?? 0));
}

/** Subscriptions of a phone, by node: SIP servers give them to the nodes in turn. */
export async function watchesEverywhere(
  cluster: TestCluster,
  phone: Phone,
  target: string,
  event: string,
): Promise<readonly PhoneSubscription[]> {
  const made = new Map<number, PhoneSubscription>();
  for (const _ of cluster.nodes) {
    const before = await subscriptionsOf(cluster);
    const subscription = phone.subscription(target, { event, expires: 600 });
    expect((await subscription.send()).status).to.equal(200);
    // It is counted once its answer is sent.
    const at = await eventually(async () => {
      const after = await subscriptionsOf(cluster);
      const found = after.findIndex((count, node) => count > (before[node] ?? 0));
      if (found < 0) throw new Error('the subscription is counted nowhere');
      return found;
    });
    made.set(at, subscription);
  }
  return cluster.nodes.map((_, at) => {
    const subscription = made.get(at);
    if (subscription === undefined) throw new Error(`no subscription came to node ${at}`);
    return subscription;
  });
}

/** The first NOTIFY that matches; earlier ones have intermediate states. */
export async function told(subscription: PhoneSubscription, matches: (body: string) => boolean): Promise<string> {
  for (;;) {
    const { body } = await subscription.notifies.next(PATIENCE_MS);
    if (matches(body)) return body;
  }
}

/** The states of the calls that a lamp shows. */
export function statesIn(body: string): readonly string[] {
  return [...body.matchAll(/<state>(\w+)<\/state>/g)].flatMap(([, state]) => state ?? []);
}

/** A lamp with calls in exactly these states. */
export function lit(...states: readonly string[]): (body: string) => boolean {
  return (body) => statesIn(body).join() === states.join();
}

export async function ends(subscriptions: readonly PhoneSubscription[]): Promise<void> {
  for (const subscription of subscriptions) expect((await subscription.send(0)).status).to.equal(200);
}
