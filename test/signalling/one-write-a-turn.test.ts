import { EventEmitter, once } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { writeOncePerTurn } from '../../runtime/signalling/one-write-a-turn.ts';
import type { Srf } from '../../runtime/signalling/srf-types.ts';

/** A connection to a SIP server, and the text of each write that would be a system call. */
function connected(): { readonly socket: Writable; readonly writes: string[] } {
  const writes: string[] = [];
  const socket = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      writes.push(chunk);
      done();
    },
    writev: (chunks: { chunk: string }[], done) => {
      writes.push(chunks.map(({ chunk }) => chunk).join(''));
      done();
    },
  });
  const wp = new EventEmitter();
  writeOncePerTurn({ _app: { client: { wp } } } as unknown as Srf);
  wp.emit('connect', socket);
  return { socket, writes };
}

describe('signalling: messages to the SIP server', () => {
  it('of one turn of the event loop leave in one write, in their order', async () => {
    const { socket, writes } = connected();
    socket.write('4#INVI');
    await Promise.resolve();
    socket.write('3#ACK');
    process.nextTick(() => socket.write('3#BYE'));
    await turn();
    expect(writes).to.deep.equal(['4#INVI3#ACK3#BYE']);
    socket.write('3#200');
    await turn();
    expect(writes).to.deep.equal(['4#INVI3#ACK3#BYE', '3#200']);
  });

  it('do not wait for the end of a long turn', () => {
    const { socket, writes } = connected();
    socket.write('3#100');
    const begin = performance.now();
    while (performance.now() - begin < 5);
    socket.write('3#503');
    expect(writes).to.deep.equal(['3#1003#503']);
  });

  it('leave before the connection ends', async () => {
    const { socket, writes } = connected();
    socket.write('3#BYE');
    socket.end();
    await once(socket, 'finish');
    expect(writes).to.deep.equal(['3#BYE']);
  });
});
