import type { OperationDefinition } from './definition.ts';
import { deleteOperation } from './operations/delete.ts';
import { invite } from './operations/invite.ts';
import { lookup } from './operations/lookup.ts';
import { refer } from './operations/refer.ts';
import { referReplaces } from './operations/referreplaces.ts';
import { setupRecord } from './operations/setup-record.ts';
import { setupBindings } from './operations/setup-bindings.ts';

/** Every call operation, in the order of the specification's table. A new one is its file, its scenario, and a line here. */
export const operations: readonly OperationDefinition[] = [
  invite,
  lookup,
  refer,
  referReplaces,
  setupRecord,
  setupBindings,
  deleteOperation,
];
