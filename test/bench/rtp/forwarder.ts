/** The floor of `rtp`, in a separate process: a bare UDP forwarder between the two ports of each received pair. */
import { connectSound, openSound } from './streams.ts';

process.once('message', (pairs: readonly (readonly [number, number])[]) => {
  void (async () => {
    const opened = await Promise.all(
      pairs.map(async ([portA, portB]) => {
        const [a, b] = await Promise.all([openSound(), openSound()]);
        await Promise.all([connectSound(a, portA), connectSound(b, portB)]);
        a.socket.on('message', (packet) => b.socket.send(packet));
        b.socket.on('message', (packet) => a.socket.send(packet));
        return [a.port, b.port] as const;
      }),
    );
    process.send?.(opened);
  })();
});
process.once('disconnect', () => process.exit(0));
