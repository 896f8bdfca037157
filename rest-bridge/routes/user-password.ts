/** `PUT /user/password`: users change their own password. */
import { Type } from 'typebox';
import type { Iam } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { asRestErrors } from '../domain-center/entity-errors.ts';
import { banned, RestError } from '../errors.ts';
import { answers, ErrorAnswer, NoContent } from './schemas.ts';

const Change = Type.Object({
  old_pwd: Type.String({ maxLength: 1024, description: 'The present password' }),
  pwd: Type.String({ minLength: 1, maxLength: 1024, description: 'The new one' }),
});

export function userPasswordRoute(app: App, { iam }: { readonly iam: Pick<Iam, 'changePassword'> }): void {
  app.put(
    '/user/password',
    {
      config: { everyUser: true },
      schema: {
        summary: 'Changes the password of the user, and ends all other sessions',
        body: Change,
        response: answers({ 204: NoContent, 400: ErrorAnswer, 403: ErrorAnswer, 429: ErrorAnswer }),
      },
    },
    async (request, reply) => {
      const { old_pwd: old, pwd } = request.body;
      const result = await asRestErrors('User', () => iam.changePassword(sessionOf(request), { old, pwd }, request.ip));
      if (result.ok) return reply.code(204).send();
      if (result.reason === 'banned') throw banned(result.retryAfterSeconds);
      throw new RestError('FORBIDDEN', { field: 'old_pwd', reason: 'is not the present password' });
    },
  );
}
