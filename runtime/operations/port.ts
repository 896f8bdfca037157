import type { OperationPort } from '../runs/index.ts';
import type { Operations } from './operations.ts';

/**
 * Lets scenarios start operations, with the rights of their domain.
 * @param operations called at each start, because the operations are made after this port
 */
export function operationPort(operations: () => Pick<Operations, 'start'>): OperationPort {
  return {
    call: async (name, domain, parameters, signal, sensitive) => {
      const started = operations().start(name, { scope: { domain }, parameters, sensitive });
      const response = started.then((operation) => operation.response);
      // The run that left does not wait for it.
      response.catch(() => undefined);
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
