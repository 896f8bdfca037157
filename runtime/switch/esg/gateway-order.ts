/** The order in which the gateways of a provider are called. */
import type { Gateway } from '../../domain/index.ts';

/**
 * By priority, and within one priority at random by weight (RFC 2782, "Weight").
 * @param random from 0 up to, but not including, 1
 */
export function inOrder<Each extends Pick<Gateway, 'priority' | 'weight'>>(
  gateways: readonly Each[],
  random: () => number = Math.random,
): readonly Each[] {
  const priorities = [...new Set(gateways.map(({ priority }) => priority))].toSorted((a, b) => a - b);
  return priorities.flatMap((each) =>
    byWeight(
      gateways.filter(({ priority }) => priority === each),
      random,
    ),
  );
}

/** Share of a gateway of weight 0, which RFC 2782 gives a very small chance beside others. */
const HARDLY_ANY = 0.01;

function byWeight<Each extends { readonly weight: number }>(among: readonly Each[], random: () => number): Each[] {
  const left = [...among];
  const order: Each[] = [];
  while (left.length > 0) {
    const shares = left.map(({ weight }) => (weight === 0 ? HARDLY_ANY : weight));
    // RFC 2782 draws whole numbers from 0 to the sum, which gives four calls of five to 3 beside 1.
    const drawn = random() * shares.reduce((total, share) => total + share, 0);
    let running = 0;
    const at = shares.findIndex((share) => (running += share) > drawn);
    order.push(...left.splice(at, 1));
  }
  return order;
}
