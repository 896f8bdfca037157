import type { Duplex } from 'node:stream';

const held = new Set<Duplex>();

function release(): void {
  const streams = [...held];
  held.clear();
  for (const stream of streams) stream.uncork();
}

/**
 * What is written to the stream until the end of this turn of the event loop goes in one piece: for a frame of an event, a
 * system call of its own costs more than everything else about it.
 */
export function gathered(stream: Duplex): void {
  if (held.has(stream)) return;
  if (held.size === 0) setImmediate(release);
  held.add(stream);
  stream.cork();
}
