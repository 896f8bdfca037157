/** Finds the possible values of `error.code` in a scenario of blocks. */
import { isMap, isScalar } from 'yaml';
import { SCENARIO_ERROR_CODES } from '../../error-codes.ts';
import type { RecordValues } from '../../possible-values.ts';
import type { BlockDraft } from '../blocks/blocks.ts';
import { scalarText } from '../text/source.ts';

export interface ErrorValues {
  readonly values: RecordValues;
  /** True when a block can fail with further codes: from an expression, a script or another scenario. */
  readonly open: boolean;
}

/** @param hasBroken true when a block has mistakes, so that its codes are unknown */
export function errorValues(drafts: readonly BlockDraft[], hasBroken: boolean): ErrorValues {
  const own = drafts.flatMap((draft) => (draft.component.authorCodes === undefined ? [] : [literalCode(draft)]));
  const known = own.filter((code) => code !== undefined);
  return {
    values: new Map([['error', { code: [...SCENARIO_ERROR_CODES, ...known] }]]),
    open: hasBroken || known.length < own.length,
  };
}

/** The code of a block of `fail`; undefined when it is known only at run time. */
function literalCode({ component, settings: { value } }: BlockDraft): string | undefined {
  const { authorCodes, shorthand } = component;
  if (authorCodes === undefined || authorCodes === 'any') return undefined;
  const { setting } = authorCodes;
  const single = shorthand === setting ? value : null;
  const node = isMap(value) ? value.get(setting, true) : single;
  const text = isScalar(node) ? scalarText(node) : '';
  return text === '' || text.includes('${') ? undefined : text;
}
