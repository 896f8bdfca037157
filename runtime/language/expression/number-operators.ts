import type { Environment } from '@marcbachmann/cel-js';

const ARITHMETIC: Readonly<Record<string, (one: number, other: number) => number>> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
};

/**
 * Mixed integer and float arithmetic and comparison, which CEL refuses: an author cannot know whether a number from
 * outside has a fraction.
 */
export function mixNumbers(environment: Environment): Environment {
  for (const [operator, compute] of Object.entries(ARITHMETIC)) {
    environment.registerOperator(`int ${operator} double: double`, (one: bigint, other: number) =>
      compute(Number(one), other),
    );
    environment.registerOperator(`double ${operator} int: double`, (one: number, other: bigint) =>
      compute(one, Number(other)),
    );
  }
  // CEL derives the swapped operands and != from these.
  return environment.registerOperator('int == double: bool', (one: bigint, other: number) => Number(one) === other);
}
