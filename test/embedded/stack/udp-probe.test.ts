import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { DEFAULT_LIMITS } from '../../../runtime/embedded/stack/parse-message.ts';
import { numericLookup } from '../../../runtime/sip-facts/index.ts';
import { PROBE_LIFETIME } from '../../../runtime/embedded/stack/udp-probe.ts';
import { UdpTransport } from '../../../runtime/embedded/stack/udp-transport.ts';
import { wire } from './messages.ts';

function ringing(peer: number): Buffer {
  return wire(`
SIP/2.0 180 Ringing
Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bKa1
From: <sip:alice@127.0.0.1>;tag=from1
To: <sip:bob@127.0.0.1>;tag=to1
Call-ID: peer-${peer}
CSeq: 7 INVITE

`);
}

/** Sends at once, without a turn of the event loop for the address. */
async function openPeer(): Promise<Socket> {
  const peer = createSocket({ type: 'udp4', lookup: numericLookup });
  await new Promise<void>((resolve) => peer.bind(0, '127.0.0.1', resolve));
  return peer;
}

describe('a UDP socket that detects closed ports', () => {
  it('loses no message that arrives while it is closed', async () => {
    const heard = new Set<string>();
    const expected = Array.from({ length: 20 }, (_, at) => `peer-${at}`);
    const all = Promise.withResolvers<void>();
    const transport = await UdpTransport.open(
      '127.0.0.1',
      0,
      {
        message: (message) => {
          heard.add(message.callId);
          if (heard.size === expected.length) all.resolve();
        },
        malformed: (error) => all.reject(error),
      },
      DEFAULT_LIMITS,
    );
    const peers = await Promise.all(expected.map(openPeer));
    const probed = peers.map((peer) => once(peer, 'message'));
    const { port } = transport.point;
    const answer = (peer: Socket, at: number) => peer.send(ringing(at), port, '127.0.0.1');
    // Timers of one length fire in the order they were set: each peer answers just before the socket to it is closed.
    peers.forEach((peer, at) => {
      setTimeout(answer, PROBE_LIFETIME, peer, at);
      transport.probe(Buffer.from('OPTIONS sip:bob SIP/2.0\r\n\r\n'), '127.0.0.1', peer.address().port, all.reject);
    });
    await Promise.all(probed);
    const missing = setTimeout(() => all.resolve(), 2 * PROBE_LIFETIME);
    await all.promise;
    clearTimeout(missing);
    expect([...heard].toSorted()).to.deep.equal(expected.toSorted());
    expect(transport.sockets).to.be.at.least(1);
    await transport.close();
    for (const peer of peers) peer.close();
  });

  it('frees its port with its transport', async () => {
    const events = { message: () => undefined, malformed: () => undefined };
    const transport = await UdpTransport.open('127.0.0.1', 0, events, DEFAULT_LIMITS);
    const peer = await openPeer();
    const probed = once(peer, 'message');
    transport.probe(Buffer.from('OPTIONS sip:bob SIP/2.0\r\n\r\n'), '127.0.0.1', peer.address().port, () => undefined);
    await probed;
    await transport.close();
    const again = createSocket('udp4');
    again.bind({ port: transport.point.port, address: '127.0.0.1', exclusive: true });
    await once(again, 'listening');
    again.close();
    peer.close();
  });
});
