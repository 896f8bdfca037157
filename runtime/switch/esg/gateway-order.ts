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

function byWeight<Each extends { readonly weight: number }>(among: readonly Each[], random: () => number): Each[] {
  // Those of weight 0 come first, so that each of them has a small chance too.
  const left = among.toSorted((a, b) => Number(a.weight > 0) - Number(b.weight > 0));
  const order: Each[] = [];
  while (left.length > 0) {
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    const chosen = Math.floor(random() * (sum + 1));
    let running = 0;
    const at = left.findIndex(({ weight }) => (running += weight) >= chosen);
    order.push(...left.splice(at, 1));
  }
  return order;
}
