import { setTimeout as delay } from 'node:timers/promises';

/**
 * Repeats a check of state that can only be polled (a REST list, /healthz) until it passes.
 * @throws the last failure after `withinMs`
 */
export async function eventually<T>(check: () => Promise<T>, withinMs = 10_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(20);
  }
}
