/** Providers with their state, as this node sees it. */
import { Type } from 'typebox';
import type { ProviderRow } from '../../runtime/domain/index.ts';
import { type KnownProvider, shownGateway, shownProviderState } from '../../runtime/events/index.ts';
import type { DomainResourceRules } from './domain-resource.ts';

const time = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description: `${description}; ISO 8601, UTC` });

const LastAnswer = Type.Object({
  sip_status: Type.Integer({ description: '408 without an answer, 503 when nothing could be sent' }),
  reason: Type.String(),
  at: Type.String({ description: 'ISO 8601, UTC' }),
});

const fields = {
  state: Type.Enum(['registered', 'registering', 'rejected', 'unreachable', 'unregistered'], {
    description: 'Of the registration, as this node sees it; unregistered where none is configured',
  }),
  reachable: Type.Union([Type.Boolean(), Type.Null()], {
    description: 'By the last answer; null while nothing was asked',
  }),
  since: time('Last change of state or reachable'),
  expires: time('End of the registration'),
  last_answer: Type.Union([LastAnswer, Type.Null()], { description: 'The last answer to a REGISTER or OPTIONS' }),
  gateway_states: Type.Array(
    Type.Object({
      gateway: Type.String({ description: 'Name of the gateway: host:port' }),
      host: Type.String(),
      port: Type.Integer(),
      transport: Type.String(),
      reachable: Type.Union([Type.Boolean(), Type.Null()], {
        description: 'False: calls leave it out until it answers OPTIONS; null while nothing was asked or called',
      }),
      since: time('Last change of reachable'),
      retry_at: time('Calls leave it out until then, as it asked by Retry-After'),
      last_answer: Type.Union([LastAnswer, Type.Null()]),
    }),
    { description: 'Of `gateways`, in their order, as this node sees them' },
  ),
};

/** @param stateOf by id; undefined for a provider that is switched off, or new */
export function providerRules(stateOf: (id: string) => KnownProvider | undefined): DomainResourceRules<ProviderRow> {
  const shown = ({ id }: ProviderRow) => {
    const known = stateOf(id);
    const gateways = (known?.gateways ?? []).map(({ gateway, status }) => shownGateway(gateway, status));
    return { ...shownProviderState(known?.status), gateway_states: gateways };
  };
  return { entity: 'Provider', keys: ['code'], live: { fields, of: shown } };
}
