/** The class `callhistory` of each domain: a history class that only the node writes. */
import { CALL_RESULTS } from '../callstore/index.ts';
import { CALL_HISTORY, type Model, type ModelCollection, openBuiltIn } from '../model/index.ts';

const text = (name: string, index = false) => ({ name, data_type: 'string', ...(index && { index }) });
const list = (name: string) => ({ name, data_type: 'string', multi: true });
const json = (name: string) => ({ name, data_type: 'any' });
const number = (name: string) => ({ name, data_type: 'long' });

const PROPERTIES = [
  text('dialogid'),
  { name: 'direction', data_type: 'enum', items: ['internal', 'inbound', 'outbound', 'transit'] },
  text('caller_number', true),
  text('caller_name'),
  text('caller_domain'),
  text('caller_login'),
  text('caller_user_id'),
  text('called_number', true),
  text('called_name'),
  text('called_domain'),
  text('called_login'),
  text('called_user_id'),
  text('dialled'),
  text('trunk'),
  text('trunk_id'),
  text('gateway'),
  text('verstat'),
  text('attestation'),
  text('started'),
  text('ringing'),
  text('answered'),
  text('ended'),
  number('ringing_ms'),
  number('talking_ms'),
  { name: 'result', data_type: 'enum', items: CALL_RESULTS },
  number('sip_status'),
  text('reason'),
  text('ended_by'),
  text('confid'),
  text('room'),
  list('recordings'),
  json('runs'),
  text('operation'),
  list('replaced'),
  list('replaced_by'),
  text('referred_by'),
  list('labels'),
  { ...list('users'), index: 'list' },
  json('legs'),
];

/** Names of the fields of a record, in the order in which they are answered. */
export const RECORD_FIELDS: readonly string[] = ['id', 'ts', ...PROPERTIES.map(({ name }) => name)];

/**
 * The history of a domain; created if missing.
 * @param domain id
 * @param days retention; 0: for ever
 * @throws Error when an older class has the name `callhistory`
 */
export function openHistory(
  model: Pick<Model, 'classes' | 'collection'>,
  domain: string,
  days: number,
): Promise<ModelCollection> {
  return openBuiltIn(model, domain, CALL_HISTORY, {
    name: 'Calls',
    description: 'What happened in each call; written by the node alone',
    storage_mode: 'history',
    properties: PROPERTIES,
    opts: { partition_interval: 'day', store_days: days, notify: false, max_limit: 10_000 },
  });
}
