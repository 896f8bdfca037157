/** Facts of calls for tests. */
import type { CallFacts, LegFacts } from '../../runtime/callstore/index.ts';

const BEGAN = Date.UTC(2026, 10, 24, 12);

function leg(side: 'a' | 'b', login: string, number: string, more: Partial<LegFacts> = {}): LegFacts {
  const party = { kind: 'sipuser' as const, domain: 'demo.local', number, name: login, login, userId: `user-${login}` };
  return { side, callid: `${side}-${login}`, party, began: BEGAN, status: null, reason: null, ...more };
}

/** A call from alice to bob that goes on. */
export function liveCall(id: string, more: Partial<CallFacts> = {}): CallFacts {
  return {
    id,
    dialogid: `dialog-${id}`,
    dialled: '102',
    dialledDomain: 'demo.local',
    began: BEGAN,
    legs: [leg('a', 'alice', '101'), leg('b', 'bob', '102')],
    labels: [],
    replaced: [],
    replacedBy: [],
    ...more,
  };
}

/** The same call after its end. */
export function endedCall(id: string, more: Partial<CallFacts> = {}): CallFacts {
  const end = { at: BEGAN + 9000, by: 'a' as const, status: 487, reason: 'BYE' };
  return liveCall(id, { ringing: BEGAN + 1000, answered: BEGAN + 2000, end, ...more });
}
