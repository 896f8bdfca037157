import { expect } from 'chai';
import { InspectorLink } from '../../runtime/sandbox/worker/inspector-link.ts';
import { Room } from '../../runtime/sandbox/worker/room.ts';
import { prepareSource } from '../../runtime/sandbox/worker/source.ts';

describe('sandbox: an isolate with a debugger', () => {
  const program = { source: 'return 1;', format: 'js', kind: 'block', file: 'test.js', line: 1 } as const;

  async function closeOne(): Promise<void> {
    const room = new Room(program, prepareSource(program), { memoryMb: 16, inspector: true });
    const door = await room.open();
    let left = false;
    const hold = (): Promise<void> => door.hold().finally(() => (left = true));
    const { promise: enabled, resolve } = Promise.withResolvers<void>();
    const link = new InspectorLink(room.isolate, program, hold, () => resolve());
    link.dispatch('{"id":1,"method":"Debugger.enable"}');
    await enabled;
    expect(left).to.equal(false);
    await link.close();
    expect(left).to.equal(true);
    room.isolate.dispose();
  }

  it('is disposed only after its thread has left it', async () => {
    // The thread may also have been quick.
    for (let round = 0; round < 5; round++) await closeOne();
  });
});
