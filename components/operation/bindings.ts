import { Type } from 'typebox';
import { OperationError } from './errors.ts';
import { Binding, ParameterError, parseParameters } from './parameters.ts';
import { findDialog, type Scope } from './target.ts';
import type { OperationTools } from './tools.ts';

/** Body of SETUP_BINDINGS (specification, "SETUP_BINDINGS"). */
export const BindingsParameters = Type.Object({
  command: Type.Enum(['get', 'set', 'add', 'remove', 'clean', 'contains'], {
    description: 'What to do with the labels.',
  }),
  label: Type.Optional(
    Type.Union([Binding, Type.Array(Binding, { maxItems: 100 })], {
      description: 'A label, or several; one only for contains.',
    }),
  ),
});

/** Answer to SETUP_BINDINGS. */
export interface BindingsResponse {
  readonly result: 'ok';
  readonly dialogid: string;
  readonly labels?: readonly string[];
  readonly contains?: boolean;
}

/**
 * Reads or changes the labels of a dialog. They stay with the call, through every transfer.
 * @throws ParameterError, OperationError; the labels are as they were then
 */
export async function setupBindings(
  { calls, dialogs }: Pick<OperationTools, 'calls' | 'dialogs'>,
  scope: Scope,
  target: Readonly<Record<string, unknown>>,
  given: unknown,
): Promise<BindingsResponse> {
  const { command, label } = parseParameters(BindingsParameters, given);
  const dialogid = await findDialog(calls, scope, target);
  const labels = dialogs.bindings(dialogid);
  if (labels === undefined) throw new OperationError({ kind: 'dialog_not_found' });
  const done: BindingsResponse = { result: 'ok', dialogid };
  switch (command) {
    case 'get':
      return { ...done, labels };
    case 'clean':
      dialogs.setBindings(dialogid, []);
      return done;
    case 'contains': {
      if (typeof label !== 'string') throw new ParameterError('label', 'must be one label');
      return { ...done, contains: labels.includes(label) };
    }
    case 'set':
      dialogs.setBindings(dialogid, labelsOf(label));
      return done;
    case 'add':
      dialogs.setBindings(dialogid, [...labels, ...labelsOf(label)]);
      return done;
    case 'remove': {
      const gone = new Set(labelsOf(label));
      dialogs.setBindings(
        dialogid,
        labels.filter((known) => !gone.has(known)),
      );
      return done;
    }
    default:
      throw new ParameterError('command', 'must be one of get, set, add, remove, clean, contains');
  }
}

function labelsOf(label: string | readonly string[] | undefined): readonly string[] {
  if (label === undefined) throw new ParameterError('label', 'is required');
  return typeof label === 'string' ? [label] : label;
}
