import { setTimeout as delay } from 'node:timers/promises';

/**
 * For state that can only be asked for (a REST list, /healthz): asks until the check passes. The last failure is thrown
 * when it does not within `withinMs`.
 */
export async function eventually<T>(check: () => Promise<T>, withinMs = 3000): Promise<T> {
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
