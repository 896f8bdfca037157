import { Type } from 'typebox';
import { CONFERENCE_SELECTOR_KEYS, type ConferenceSelectorKey } from '../../callstore/index.ts';
import { conferenceSelector } from '../request/conference.ts';
import { defineOperation, type PlanTools } from '../definition.ts';
import { notApplicable, OperationError } from '../errors.ts';
import { type Scope, selectorProperties } from '../request/target.ts';
import { TRANSFER_PARAMETERS, transferPlan, TransferResponse } from './transfer-plan.ts';

const conference = (what: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: `The conference, by ${what}.` }));

/** Brings the opponent of the initiator into a conference (specification, "REFERCONF"). */
export const referConf = defineOperation({
  name: 'referconf',
  summary: 'Brings the opponent of the initiator into a conference, which the initiator keeps on hold.',
  parameters: Type.Object({
    ...TRANSFER_PARAMETERS,
    ...selectorProperties('refer', 'A call of which the conference is one side'),
    referconfid: conference('id'),
    referconfuri: conference('URI'),
    referconfroomnum: conference('room number, without the featurecode'),
    referconfnumber: conference('phone number with the featurecode, or its hexadecimal number'),
  }),
  response: TransferResponse,
  example: { by: '<sip:alice@demo.local>', referconfroomnum: '17' },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: true,
  scenario: 'referconf',
  plan: async (tools, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const confid = await findConference(tools.conferences, scope, parameters);
    const room = (await tools.conferences.numberOf(confid)) ?? '';
    return transferPlan(tools, scope, dialogid, parameters, { room });
  },
});

/**
 * The one conference that parameters name.
 * @throws ParameterError without a selector; OperationError when none or several match, it is full, or of another domain
 */
async function findConference(
  conferences: PlanTools['conferences'],
  scope: Scope,
  parameters: Readonly<Record<string, unknown>>,
): Promise<string> {
  const selector = conferenceSelector(parameters, 'refer');
  const ids = await conferences.lookup(scope, selector);
  const [confid, second] = ids;
  const field = `refer${CONFERENCE_SELECTOR_KEYS.find((key: ConferenceSelectorKey) => selector[key] !== undefined)}`;
  if (second !== undefined) throw new OperationError({ kind: 'ambiguous', field, ids });
  if (confid !== undefined) {
    if ((await conferences.freePlaces(confid)) < 1) throw notApplicable(field, 'the conference is full');
    return confid;
  }
  if (await conferences.isForeign(scope, selector)) throw notApplicable(field, 'is a conference of another domain');
  throw new OperationError({ kind: 'not_found', entity: 'Conference' });
}
