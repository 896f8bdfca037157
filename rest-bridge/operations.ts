import {
  BindingsParameters,
  InviteParameters,
  type Operations as CallOperations,
  OperationError,
  ReferParameters,
  ReferReplacesParameters,
  type Started,
} from '../components/operation/index.ts';
import type { Directory } from '../runtime/domain/directory.ts';
import type { OperationAnswer, Operations } from './deps.ts';
import { RestError } from './errors.ts';

/** The Operation component as the routes use it. */
export function restOperations(operations: CallOperations, directory: Directory): Operations {
  return {
    schemas: {
      invite: InviteParameters,
      refer: ReferParameters,
      referreplaces: ReferReplacesParameters,
      setup_bindings: BindingsParameters,
    },
    invite: async (body, scope) => {
      if (scope.ownUserId !== undefined && !owns(directory, scope.domain, scope.ownUserId, body)) {
        throw new RestError('FORBIDDEN');
      }
      const { id, response } = await operations.invite(body, scope);
      return { status: 200, body: await response, operationId: id };
    },
    onDialog: (name, target, body, scope) => {
      switch (name) {
        case 'refer':
          return applied(async () => answerOf(await operations.refer(scope, target, body, scope)));
        case 'referreplaces':
          return applied(async () => answerOf(await operations.referReplaces(scope, target, body, scope)));
        case 'setup_bindings':
          return applied(async () => ({ status: 200, body: await operations.setupBindings(scope, target, body) }));
        case 'delete':
          return applied(async () => ({ status: 200, body: await operations.terminate(scope, target) }));
        default:
          return name satisfies never;
      }
    },
    lookup: (selector, scope) => operations.lookup(scope, selector),
  };
}

async function answerOf({ handle, response }: Started<object>): Promise<OperationAnswer> {
  return { status: 200, body: await response, operationId: handle.id };
}

/** Makes REST errors of the reasons why an operation does not start. */
async function applied(operation: () => Promise<OperationAnswer>): Promise<OperationAnswer> {
  try {
    return await operation();
  } catch (error) {
    throw error instanceof OperationError ? restError(error) : error;
  }
}

function restError({ problem }: OperationError): RestError {
  switch (problem.kind) {
    case 'dialog_not_found':
      return new RestError('DIALOG_NOT_FOUND');
    case 'ambiguous': {
      const reason = 'several dialogs match';
      return new RestError('CONFLICT', { field: problem.field, reason, ids: problem.ids });
    }
    case 'not_applicable':
      return new RestError('CANNOT_APPLY', { field: problem.field, reason: problem.reason });
    default:
      return problem satisfies never;
  }
}

/** Whether the caller party of an INVITE body is an account of the user. */
function owns(directory: Directory, domain: string, userId: string, body: unknown): boolean {
  const { from, mode } = body as { from?: unknown; mode?: unknown };
  return directory
    .sipUsersOfUser(userId)
    .some(
      (account) =>
        account.domain.toLowerCase() === domain.toLowerCase() &&
        (mode === 'sipuser' ? account.login : account.phonenumber) === from,
    );
}
