/** The functions `format`, `money` and `round` of expressions. */
import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { CURRENCY, formatMoney, formatNumber, formatTime, NUMBER_STYLES, rounded, TIME_STYLES } from '../formats.ts';
import { suggestName } from '../problem.ts';
import type { ExpressionProblem } from './words.ts';

const TIMESTAMP = 'google.protobuf.Timestamp';
const DEFAULT_LANGUAGE = 'en';

/** Language of the expression that is being evaluated: evaluation never waits, so there is one at a time. */
let present = DEFAULT_LANGUAGE;

/** Evaluates with the language of the run, which the record `scenario` has. */
export function inLanguageOf<T>({ scenario }: Readonly<Record<string, unknown>>, evaluate: () => T): T {
  const before = present;
  const found = (scenario as { readonly language?: unknown } | undefined)?.language;
  present = typeof found === 'string' && found !== '' ? found : DEFAULT_LANGUAGE;
  try {
    return evaluate();
  } finally {
    present = before;
  }
}

/** Only those of `format` for a time need its type; without one, a text and a number decide at run time. */
export function formatFunctions(environment: Environment): Environment {
  const register = environment.registerFunction.bind(environment);
  for (const type of ['string', TIMESTAMP]) {
    register(`format(${type}, string): string`, (time: unknown, style: string) => formatTime(time, style, present));
    register(`format(${type}, string, string): string`, (time: unknown, style: string, zone: string) =>
      formatTime(time, style, present, zone),
    );
  }
  for (const type of ['int', 'double']) {
    register(`format(${type}, string): string`, (value: number | bigint, style: string) =>
      formatNumber(value, style, present),
    );
    register(`format(${type}): string`, (value: number | bigint) => formatNumber(value, 'decimal', present));
    register(`money(${type}, string): string`, (value: number | bigint, currency: string) =>
      formatMoney(value, currency, present),
    );
    register(`round(${type}): int`, (value: number | bigint) => BigInt(rounded(Number(value), 0)));
    register(`round(${type}, int): double`, (value: number | bigint, digits: bigint) =>
      rounded(Number(value), Number(digits)),
    );
  }
  return environment;
}

/** A literal style or currency that no value has. */
export function wrongFormat(name: string, args: readonly ASTNode[]): ExpressionProblem | undefined {
  const node = args[1];
  if (node?.op !== 'value' || typeof node.args !== 'string') return undefined;
  const written = node.args;
  if (name === 'money' && !CURRENCY.test(written))
    return { start: node.start, message: `"${written}" is no currency`, suggestion: 'write its code, e.g. EUR' };
  const styles = [...TIME_STYLES, ...NUMBER_STYLES];
  if (name !== 'format' || styles.includes(written)) return undefined;
  const suggestion = suggestName(written, styles) ?? `there are ${styles.join(', ')}`;
  return { start: node.start, message: `there is no format "${written}"`, suggestion };
}
