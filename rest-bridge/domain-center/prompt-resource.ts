/** `/domain/prompts`: sounds of a domain, which uploads make. */
import type { LiveDirectory, PromptFile, PromptRow } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import type { Fields } from '../collection/resource.ts';
import { RestError } from '../errors.ts';
import { DomainResource } from './domain-resource.ts';

export class PromptResource extends DomainResource<PromptRow> {
  readonly madeByUpload = true;

  constructor(directory: Pick<LiveDirectory, 'collections' | 'domain' | 'domains'>) {
    super(directory.collections.prompts, directory, { entity: 'Prompt', keys: ['name'] });
  }

  /**
   * Refuses what `create` would refuse, before a file is read.
   * @throws RestError 400/1400, 403/1401, 409/1402
   */
  async checkNew(session: Session, fields: Fields, file: PromptFile): Promise<void> {
    await super.create(session, { ...fields, file }, { dryRun: true });
  }

  /** @throws RestError 404/1404 */
  async existing(session: Session, id: string): Promise<PromptRow> {
    const prompt = await this.read(session, id);
    if (prompt === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: this.entity });
    return prompt;
  }
}
