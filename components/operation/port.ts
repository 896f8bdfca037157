import type { OperationPort } from '../../runtime/interpreter/ports/operations.ts';
import type { Operations } from './operations.ts';

/** The operations as scenarios start them: with the rights of their domain. */
export function operationPort(operations: () => Operations): OperationPort {
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
