/** Checks of webhooks when they are written. */
import type { CheckWebhook } from '../domain/index.ts';
import { eventNameProblem, selectionOf } from '../events/index.ts';
import { selectedBy } from './subscribed.ts';
import { type Addresses, urlProblem } from './target.ts';

/** @param addresses which servers may be reached */
export function webhookCheck(addresses: Addresses): CheckWebhook {
  return (webhook) => {
    const url = urlProblem(webhook.url, addresses);
    if (url !== undefined) return { field: 'url', reason: url };
    for (const [index, name] of webhook.events.entries()) {
      const problem = eventNameProblem(name);
      if (problem !== undefined) return { field: `events.${index}`, reason: problem, found: name };
    }
    return selectionProblem(webhook);
  };
}

function selectionProblem(webhook: Parameters<CheckWebhook>[0]): ReturnType<CheckWebhook> {
  try {
    selectionOf(selectedBy(webhook));
    return undefined;
  } catch (error) {
    if (!isFilterError(error)) throw error;
    return { field: `exargs.${error.path}`, reason: error.reason };
  }
}

/** The error of an invalid filter, which names the place in it. */
function isFilterError(error: unknown): error is Error & { readonly path: string; readonly reason: string } {
  return error instanceof Error && 'path' in error && 'reason' in error;
}
