/** The operation SWITCHCONF. */
import { randomInt } from 'node:crypto';
import { Type } from 'typebox';
import { asksForPin, roomSettings } from '../../conference/index.ts';
import { defineOperation, type PlanTools, touched } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { Binding, NumberOrLogin, ResponseModeOption } from '../request/parameters.ts';
import type { ResponseMode } from '../answer/response.ts';
import { switchProgress } from '../answer/switch-progress.ts';
import { live, type Scope } from '../request/target.ts';
import { RESULT, WHY } from '../answer/transfer-progress.ts';

const side = (party: string) => ({
  ivrcallid: Type.Optional(Type.String({ description: `Call-ID of the initiating call to ${party}.` })),
  new_acallid: Type.Optional(Type.String({ description: `Call-ID of the A leg of ${party}'s new dialog.` })),
  new_last_response: Type.Optional(
    Type.String({ description: `Status line of the conference's last answer to ${party}.` }),
  ),
  new_dialogid: Type.Optional(Type.String({ description: `The new dialog of ${party} with the conference.` })),
  ...WHY,
});
const prefixed = <Fields extends object>(prefix: string, fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [prefix + name, schema as never]));

/** Digits of a generated room number. */
const FRESH_DIGITS = 6;

/** Converts a call to a conference of its parties (specification, "SWITCHCONF"). */
export const switchConf = defineOperation({
  name: 'switchconf',
  summary: 'Converts a call to a conference of its two parties.',
  parameters: Type.Object({
    referto: Type.Optional(
      NumberOrLogin(
        "Number of the conference, with its featurecode; default: a fresh room of the domain's featurecode.",
      ),
    ),
    binding: Type.Optional(Binding),
    response_mode: ResponseModeOption(3),
  }),
  response: Type.Object({
    dialogid: Type.String({ description: 'As asked.' }),
    referto: Type.String({ description: 'Number of the conference, with its featurecode.' }),
    result: RESULT,
    confid: Type.Optional(Type.String({ description: 'The conference.' })),
    ...prefixed('x_', side('the caller')),
    ...prefixed('y_', side('the called party')),
  }),
  example: { response_mode: 4 },
  target: 'dialog',
  http: { on: 'calls', paths: ['domain', 'own'] },
  startsCall: true,
  scenario: 'switchconf',
  plan: async ({ conferences, dialogs, directory }, { scope, parameters, dialogids: [dialogid = ''] }) => {
    const { binding, response_mode: mode = 3 } = parameters;
    const { status, legs } = live(dialogs, scope, dialogid);
    if (status !== 'dialog') throw notApplicable('dialogid', 'the call is not answered yet');
    if (!legs.every(({ movable }) => movable))
      throw notApplicable('dialogid', 'a side cannot be moved: it is no phone, or the node of the call died');
    const referto = await roomNumber({ conferences, directory }, scope, parameters.referto);
    return {
      touches: () => [touched(dialogs, scope.domain, dialogid)],
      args: { dialogid, room: referto, ...(binding === undefined ? {} : { binding }) },
      responseMode: mode,
      progress: switchProgress(mode as ResponseMode, { dialogid, referto }),
    };
  },
});

/**
 * The number of the room: the given one, or that of a new room.
 * @throws OperationError for the number of no room, of a full one, or of one with a PIN that the user may not know
 */
async function roomNumber(
  { conferences, directory }: Pick<PlanTools, 'conferences' | 'directory'>,
  scope: Scope,
  given: string | undefined,
): Promise<string> {
  const { domain } = scope;
  const decision = given === undefined ? undefined : directory.route(domain, undefined, given);
  if (decision !== undefined && decision.kind !== 'conference') {
    throw notApplicable('referto', 'leads to no conference room of the domain');
  }
  const featureCode = decision?.featureCode ?? directory.featureCode(domain, 'conference');
  if (featureCode === undefined) throw notApplicable('referto', 'is needed: the domain has no conference featurecode');
  const settings = roomSettings(featureCode);
  if (settings.maxMembers === 1) throw notApplicable('referto', 'the conference has one place, for two parties');
  if (given !== undefined && decision !== undefined && decision.room !== '') {
    if (scope.ownUserId !== undefined && asksForPin(settings)) {
      const takesPart = (await conferences.lookup(scope, { confnumber: given })).length > 0;
      if (!takesPart) throw notApplicable('referto', 'asks for a PIN: take part in the conference first');
    }
    for (const confid of await conferences.lookup({ domain }, { confnumber: given })) {
      const free = await conferences.freePlaces(confid);
      if (free < 2) throw notApplicable('referto', `the conference is full: ${free} free, for two parties`);
    }
    return given;
  }
  const prefix = given ?? featureCode.prefix;
  for (;;) {
    const number = prefix + String(randomInt(10 ** (FRESH_DIGITS - 1), 10 ** FRESH_DIGITS));
    if ((await conferences.lookup({ domain }, { confnumber: number })).length === 0) return number;
  }
}
