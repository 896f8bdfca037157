/** Merges a class with its inherited settings, and checks rules across both. */
import type { ClassDefinition, PropertyDefinition } from './class-definition.ts';
import { IMPLICIT_TIME, isPartitioned } from './class-settings.ts';
import { InvalidFieldError } from './errors.ts';
import { parseMask } from './filter/index.ts';
import { checkTogether } from './property-settings.ts';

const MAX_ANCESTORS = 16;

/**
 * All properties of a class, inherited ones first.
 *
 * @param byId the other classes of the domain
 * @throws InvalidFieldError naming the field
 */
export function resolveProperties(
  definition: ClassDefinition,
  byId: (id: string) => ClassDefinition | undefined,
): readonly PropertyDefinition[] {
  const chain = [definition];
  for (let parentId = definition.parent_id; parentId !== null; ) {
    const parent = byId(parentId);
    if (parent === undefined || parent.domain_id !== definition.domain_id) {
      throw new InvalidFieldError('parent_id', 'names no class of the domain', parentId);
    }
    if (chain.some(({ id }) => id === parent.id))
      throw new InvalidFieldError('parent_id', 'makes the class its own ancestor', parentId);
    chain.unshift(parent);
    if (chain.length > MAX_ANCESTORS) throw new InvalidFieldError('parent_id', `has over ${MAX_ANCESTORS} ancestors`);
    parentId = parent.parent_id;
  }
  const properties = chain.flatMap((each) => each.properties);
  const { storage_mode: mode, opts } = definition;
  if (isPartitioned(mode) && opts.partition_property === '' && !properties.some(({ name }) => name === 'ts')) {
    properties.push(IMPLICIT_TIME);
  }
  checkTogether(properties);
  checkMode(definition, properties);
  checkNames(definition, properties);
  return properties;
}

function checkMode({ storage_mode: mode, opts }: ClassDefinition, properties: readonly PropertyDefinition[]): void {
  if (!isPartitioned(mode)) return;
  const time = properties.find(({ name }) => name === (opts.partition_property || 'ts'));
  if (time?.data_type !== 'long' || time.multi) {
    throw new InvalidFieldError(
      'opts.partition_property',
      'must name a property of type long that holds milliseconds since the epoch',
      opts.partition_property || 'ts',
    );
  }
  const unique = properties.find((property) => property.unique);
  if (unique !== undefined) {
    throw new InvalidFieldError(`properties.${unique.name}.unique`, `cannot be kept over partitions (${mode})`, true);
  }
}

function checkNames({ opts }: ClassDefinition, properties: readonly PropertyDefinition[]): void {
  const byName = new Map(properties.map((property) => [property.name, property]));
  opts.lookup_properties.forEach((name, index) => {
    const property = byName.get(name);
    const isKey = property !== undefined && !property.multi && !['any', 'attachment'].includes(property.data_type);
    if (!isKey) {
      throw new InvalidFieldError(`opts.lookup_properties.${index}`, 'must name a single plain property', name);
    }
  });
  for (const name of parseMask(opts.max_mask)?.keys() ?? []) {
    if (name !== 'id' && !byName.has(name)) throw new InvalidFieldError('opts.max_mask', `names no property: ${name}`);
  }
}

/** The property by which a history or transactionlog class is partitioned. */
export function timeProperty({ opts }: ClassDefinition): string {
  return opts.partition_property === '' ? IMPLICIT_TIME.name : opts.partition_property;
}
