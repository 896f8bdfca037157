import { expect } from 'chai';
import type { MediaEndpoint } from '../../../runtime/media/index.ts';
import { MediaPath } from '../../../runtime/switch/sound/media-path.ts';
import { eventually } from '../../support/eventually.ts';

/** An endpoint that notes what it is told, and leaves a bridge when the test lets it. */
class Endpoint {
  readonly told: string[] = [];
  readonly leaves = Promise.withResolvers<void>();

  bridge(): Promise<void> {
    this.told.push('bridge');
    return Promise.resolve();
  }

  unbridge(): Promise<void> {
    this.told.push('unbridge');
    return this.leaves.promise;
  }

  play(source: string, signal: AbortSignal): Promise<number> {
    this.told.push(source);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }
}

describe('the sound between two endpoints', () => {
  it('plays no melody for a hold that is over before the bridge has ended', async () => {
    const [a, b] = [new Endpoint(), new Endpoint()];
    const [one, other] = [a, b].map((endpoint) => endpoint as unknown as MediaEndpoint) as [
      MediaEndpoint,
      MediaEndpoint,
    ];
    const path = new MediaPath(one, other, () => true);
    await path.connect();
    const held = path.setHeld(one, true);
    await eventually(async () => expect(a.told).to.deep.equal(['bridge', 'unbridge']));
    const resumed = path.setHeld(one, false);
    a.leaves.resolve();
    await Promise.all([held, resumed]);
    expect(a.told).to.deep.equal(['bridge', 'unbridge', 'bridge']);
    expect(b.told).to.deep.equal([]);
  });
});
