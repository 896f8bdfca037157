import type { Duplex } from 'node:stream';

const held = new Set<Duplex>();

function release(): void {
  const streams = [...held];
  held.clear();
  for (const stream of streams) stream.uncork();
}

/**
 * Joins all writes of one turn of the event loop to one: a system call for each event frame would cost more than the rest of
 * its work.
 */
export function gathered(stream: Duplex): void {
  if (held.has(stream)) return;
  if (held.size === 0) setImmediate(release);
  held.add(stream);
  stream.cork();
}
