import type { OperationPort } from '../runs/ports/operations.ts';
import type { ConferenceOperations } from './conferences/conferences.ts';
import type { Operations } from './operations.ts';
import { parseParameters } from './request/parameters.ts';
import { operationTable } from './registry.ts';

/** The operations as scenarios start them: with the rights of their domain. */
export function operationPort(operations: () => Operations, conferences: () => ConferenceOperations): OperationPort {
  return {
    call: async (name, domain, parameters, signal) => {
      const scope = { domain };
      const known = operationTable.get(name);
      if (known?.kind === 'conference') {
        const { operation } = known;
        return operation.run(conferences(), scope, parseParameters(operation.parameters, parameters));
      }
      const { response } = await operations().start(name, { scope, parameters });
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
