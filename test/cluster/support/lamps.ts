/** Busy lamps of phones at every node, and what their latest NOTIFYs show. */
import { expect } from 'chai';
import type { Phone } from '../../phones/phone.ts';
import type { PhoneSubscription } from '../../phones/phone-subscription.ts';
import { eventually } from '../../support/eventually.ts';
import type { TestCluster } from './test-cluster.ts';
import { ends, statesIn, watchesEverywhere } from './watching.ts';

const PATIENCE_MS = 20_000;

interface Lamp {
  readonly login: string;
  readonly subscription: PhoneSubscription;
  shown: string;
}

/** Each node has a subscription to each phone, as long as it lives. */
export class Lamps {
  readonly #lamps: readonly Lamp[];

  private constructor(lamps: readonly Lamp[]) {
    this.#lamps = lamps;
  }

  /** @param numbers by login */
  static async light(cluster: TestCluster, watcher: Phone, numbers: Readonly<Record<string, string>>): Promise<Lamps> {
    const lamps: Lamp[] = [];
    for (const [login, number] of Object.entries(numbers))
      for (const subscription of await watchesEverywhere(cluster, watcher, number, 'dialog'))
        lamps.push({ login, subscription, shown: 'nothing yet' });
    return new Lamps(lamps);
  }

  /** Waits until every lamp shows calls in these states, and no others. */
  async show(states: (login: string) => readonly string[]): Promise<void> {
    await eventually(async () => {
      for (const lamp of this.#lamps) {
        const { notifies } = lamp.subscription;
        while (notifies.pending > 0)
          lamp.shown = statesIn((await notifies.next(0)).body)
            .toSorted()
            .join();
        expect(lamp.shown, `lamp of ${lamp.login}`).to.equal(states(lamp.login).toSorted().join());
      }
    }, PATIENCE_MS);
  }

  async end(): Promise<void> {
    // drachtio-server answers 481 to a refresh when the node that took the subscription is dead.
    if (process.env['RINGMASTER_TEST_DRACHTIO'] !== undefined) return;
    await ends(this.#lamps.map(({ subscription }) => subscription));
  }
}
