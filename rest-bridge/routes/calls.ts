/** Routes of active calls. */
import { Type } from 'typebox';
import { DialogRecord } from '../../runtime/operations/index.ts';
import { DIALOG_FIELDS } from '../../runtime/callstore/index.ts';
import type { App } from '../app.ts';
import { fieldTypes, localPages } from '../../runtime/model/index.ts';
import { answerPages, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { OPERATION_PATHS, operationRoutes, scopeOf } from '../operations.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

/** The answered fields depend on mask and flat. */
const Dialog = Type.Partial(DialogRecord);

export const DIALOG: ResourceType = {
  fields: DIALOG_FIELDS,
  aliases: { esgdlgid: 'esgdlg' },
  types: fieldTypes(Dialog),
};

/** Active calls (specification, "Call control"). */
export function callRoutes(app: App, deps: Pick<RestDeps, 'calls' | 'pages' | 'operations' | 'firstAnswers'>): void {
  const { calls, pages = { calls: localPages(DIALOG, (scope) => calls.list(scope)) } } = deps;
  for (const { base, path } of OPERATION_PATHS.calls) {
    app.get(
      base,
      {
        schema: {
          querystring: ListQuery,
          response: answers({ 200: Type.Union([Type.Array(Dialog), Count]), 400: ErrorAnswer }),
        },
      },
      async (request) => await answerPages(DIALOG, pages.calls, scopeOf(request, path), request.query),
    );
    app.get(
      `${base}/${ID}`,
      { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Dialog, 404: ErrorAnswer }) } },
      async (request) => {
        const dialog = await calls.read(scopeOf(request, path), request.params.id);
        if (!dialog) throw new RestError('DIALOG_NOT_FOUND');
        return answerRead(DIALOG, dialog, request.query);
      },
    );
  }
  operationRoutes(app, deps, 'calls');
}
