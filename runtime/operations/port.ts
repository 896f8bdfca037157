import type { OperationPort } from '../runs/index.ts';
import type { Operations } from './operations.ts';

/**
 * The operations as scenarios start them: with the rights of their domain.
 * @param operations asked at each call; they are there when the first scenario runs
 */
export function operationPort(operations: () => Pick<Operations, 'start'>): OperationPort {
  return {
    call: async (name, domain, parameters, signal) => {
      const { response } = await operations().start(name, { scope: { domain }, parameters });
      const left = Promise.withResolvers<never>();
      const leave = (): void => left.reject(signal.reason);
      if (signal.aborted) leave();
      signal.addEventListener('abort', leave, { once: true });
      try {
        return await Promise.race([response, left.promise]);
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
  };
}
