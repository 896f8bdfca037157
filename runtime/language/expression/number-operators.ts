import type { Environment } from '@marcbachmann/cel-js';

const ARITHMETIC: Readonly<Record<string, (one: number, other: number) => number>> = {
  '+': (one, other) => one + other,
  '-': (one, other) => one - other,
  '*': (one, other) => one * other,
  '/': (one, other) => one / other,
};

/**
 * Lets integers and numbers with a fraction be computed and compared with each other, which CEL refuses: whether a number that came
 * from elsewhere has a fraction, an author cannot know.
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
  // The other way round, and !=, follow from it.
  return environment.registerOperator('int == double: bool', (one: bigint, other: number) => Number(one) === other);
}
