import { Duplex } from 'node:stream';

/** A connection that keeps what is written to it, a text for each write to the network. */
export function segmentsOf(): { readonly socket: Duplex; readonly segments: readonly string[] } {
  const segments: string[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => {
      segments.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      segments.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  return { socket, segments };
}
