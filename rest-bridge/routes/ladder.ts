/** The route of the SIP messages of a call. */
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const View = Type.Object({
  calls: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Id in /uc/history, and `call` in the log' }),
      dialogid: Type.String(),
      started: Type.String(),
      ended: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: 'The call, and those of its transfer chain, oldest first' },
  ),
  legs: Type.Array(
    Type.Object({
      callid: Type.String({ description: 'Call-ID in its messages' }),
      side: Type.Enum(['a', 'b']),
      kind: Type.Enum(['sipuser', 'provider', 'ivr', 'conference', 'unknown']),
      number: Type.String(),
      name: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: 'Legs of this domain' },
  ),
  complete: Type.Boolean({ description: 'False when messages of the call are no longer kept' }),
  messages: Type.Array(
    Type.Object({
      time: Type.String({ description: 'ISO 8601, UTC, with microseconds' }),
      callid: Type.String(),
      transport: Type.String(),
      from: Type.String({ description: 'ip:port; empty for the far side of a message that was on no wire' }),
      to: Type.String(),
      sent: Type.Boolean({ description: 'True for messages of this node' }),
      wire: Type.Boolean({ description: 'False for an answer that the SIP server made up, such as 408' }),
      text: Type.String({ description: 'Without digest responses, keys of media, and digits in INFO' }),
    }),
    { description: 'Oldest first' },
  ),
});

/** The SIP messages of a call of the last hour, for administrators of the session's domain. */
export function ladderRoutes(app: App, { ladder }: Pick<RestDeps, 'ladder'>): void {
  app.get(
    `/uc/calls/${ID}/ladder`,
    { schema: { params: IdPath, response: answers({ 200: View, 404: ErrorAnswer, 503: ErrorAnswer }) } },
    async (request) => {
      if (ladder === undefined)
        throw new RestError('UNAVAILABLE', { reason: 'this node keeps no SIP messages (RINGMASTER_LADDER_MB is 0)' });
      const found = await ladder.of(sessionOf(request).domain, request.params.id);
      if (found === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Call of the last hour' });
      return found;
    },
  );
}
