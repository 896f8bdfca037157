import { expect } from 'chai';
import { RecentPeers } from '../../../runtime/embedded/stack/recent-peers.ts';

describe('recent peers', () => {
  it('remembers a peer for half a second to a second', () => {
    let now = 1000;
    const peers = new RecentPeers(() => now);
    expect(peers.has('10.0.0.1', 5060)).to.equal(false);
    peers.heard('10.0.0.1', 5060);
    expect(peers.has('10.0.0.1', 5060)).to.equal(true);
    expect(peers.has('10.0.0.1', 5061)).to.equal(false);
    now += 499;
    expect(peers.has('10.0.0.1', 5060)).to.equal(true);
    now += 1;
    expect(peers.has('10.0.0.1', 5060)).to.equal(true);
    now += 500;
    expect(peers.has('10.0.0.1', 5060)).to.equal(false);
  });

  it('drops all peers after a silence', () => {
    let now = 0;
    const peers = new RecentPeers(() => now);
    peers.heard('10.0.0.1', 5060);
    now = 10_000;
    expect(peers.has('10.0.0.1', 5060)).to.equal(false);
  });

  it('is bounded under a flood of forged addresses', () => {
    const peers = new RecentPeers(() => 0);
    for (let port = 0; port < 20_000; port += 1) peers.heard('10.0.0.1', port);
    expect(peers.has('10.0.0.1', 9999)).to.equal(true);
    expect(peers.has('10.0.0.1', 10_000)).to.equal(false);
  });
});
