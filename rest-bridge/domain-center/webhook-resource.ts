/** `/domain/webhooks`: webhooks, whose secret only the answer to its making shows. */
import { Type } from 'typebox';
import type { LiveDirectory, WebhookRow } from '../../runtime/domain/index.ts';
import type { Fields } from '../collection/resource.ts';
import { DomainResource } from './domain-resource.ts';

export class WebhookResource extends DomainResource<WebhookRow> {
  readonly secretFields = {
    secret: Type.String({ description: 'Signs the deliveries; shown when it is new, and never again' }),
  };

  constructor(directory: Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>) {
    super(directory.collections.webhooks, directory, { entity: 'Webhook', keys: [] });
  }

  secretsOf(entity: object, fields: Fields, isNew: boolean): object {
    const [present] = (entity as WebhookRow).secrets;
    return isNew || 'secret' in fields ? { secret: present?.secret } : {};
  }
}
