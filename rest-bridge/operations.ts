import { InviteParameters, type Operations as CallOperations } from '../components/operation/index.ts';
import type { Operations } from './deps.ts';

/**
 * The Operation component as the routes use it.
 * @param terminate ends a dialog of a domain; false when there is none of that id
 */
export function restOperations(
  operations: CallOperations,
  terminate: (domain: string, dialogid: string) => Promise<boolean>,
): Operations {
  return {
    schemas: { invite: InviteParameters },
    invite: async (body, { domain }) => {
      const { id, response } = await operations.invite(body, { domain });
      return { status: 200, body: await response, operationId: id };
    },
    terminate,
  };
}
