import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { readInTurns, writeInTurns } from '../../runtime/signalling/short-turns.ts';
import { segmentsOf } from '../support/segments.ts';

const PIECE = 65_536;
const PIECES = 20;

describe('reading from a SIP server', () => {
  /** The most octets that come in one turn of the event loop, and all of them. */
  async function received(prepare: (wp: EventEmitter) => void): Promise<{ most: number; all: number }> {
    const server = createServer((socket) => socket.end(Buffer.alloc(PIECE * PIECES)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const wp = new EventEmitter();
    prepare(wp);
    const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let turn = 0;
    let most = 0;
    let all = 0;
    socket.on('data', ({ length }) => {
      if (turn === 0)
        setImmediate(() => {
          turn = 0;
        });
      turn += length;
      all += length;
      most = Math.max(most, turn);
      // Work, meanwhile the rest arrives.
      const until = performance.now() + 5;
      while (performance.now() < until);
    });
    await once(socket, 'connect');
    wp.emit('connect', socket);
    await once(socket, 'close');
    server.close();
    return { most, all };
  }

  it('takes one piece in each turn of the event loop, and all in the end', async () => {
    const inTurns = await received((wp) => readInTurns({ app: { client: { wp } } }));
    expect(inTurns.all).to.equal(PIECE * PIECES);
    expect(inTurns.most).to.be.at.most(PIECE);
    expect((await received(() => undefined)).most).to.be.above(PIECE);
  });
});

describe('writing to a SIP server', () => {
  it('sends up to eight messages of one turn of the event loop together', async () => {
    const { socket, segments } = segmentsOf();
    const wp = Object.assign(new EventEmitter(), {
      send: (to: Duplex, text: string) => {
        to.write(text);
        return text;
      },
    });
    writeInTurns({ app: { client: { wp } } });
    expect(wp.send(socket, 'one,')).to.equal('one,');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    wp.send(socket, 'two');
    expect(segments).to.deep.equal([]);
    await endOfTurn();
    wp.send(socket, 'three');
    await endOfTurn();
    for (const text of '123456789') wp.send(socket, text);
    expect(segments).to.deep.equal(['one,two', 'three', '12345678']);
    await endOfTurn();
    expect(segments.at(-1)).to.equal('9');
  });
});
