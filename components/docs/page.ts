import type { TSchema } from 'typebox';
import {
  type ComponentDefinition,
  type ComponentDefinitions,
  END,
  methodOf,
  settingKind,
} from '../../runtime/language/index.ts';

/** The page of a component in Markdown: description, settings, exits, results, and an example. */
export function componentPage(component: ComponentDefinition, example: string): string {
  return [
    `<!-- Made by components/docs/write.ts from index.ts and example.yaml. -->`,
    `# ${component.name}`,
    component.summary,
    component.docs,
    settingsSection(component),
    exitsSection(component),
    resultsSection(component),
    `## Example\n\n\`\`\`yaml\n${example.trimEnd()}\n\`\`\``,
  ]
    .filter((section) => section !== '')
    .join('\n\n')
    .concat('\n');
}

/** Components that are made from the call operations share a page. */
export function isOperation({ name }: ComponentDefinition): boolean {
  return name.startsWith('operation.');
}

/** The page of all call operations as components. */
export function operationsPage(components: ComponentDefinitions, introduction: string): string {
  const pages = [...components.values()]
    .filter(isOperation)
    .map((component) =>
      [
        `## ${component.name}`,
        component.summary,
        component.docs,
        settingsSection(component).replace('## Settings\n\n', ''),
        resultsSection(component).replace('## Results\n\n', ''),
      ]
        .filter((section) => section !== '')
        .join('\n\n'),
    );
  const made = '<!-- Made by components/docs/write.ts from the operations and introduction.md. -->';
  return `${[made, introduction.trimEnd(), ...pages].join('\n\n')}\n`;
}

/** The page docs/scenarios/components.md with the list of all components between its two marks. */
export function withComponentList(page: string, components: ComponentDefinitions): string {
  const rows = [...components.values()].map((component) => {
    const { name, summary } = component;
    const folder = isOperation(component) ? 'operation' : name;
    return [`[${name}](../../components/${folder})`, summary, code(methodOf(component) ?? '')].map((cell) =>
      cell === '``' ? '' : cell,
    );
  });
  const list = table(['Component', 'What it does', 'In modules'], rows);
  return page.replace(/(<!-- components -->)[^]*(<!-- \/components -->)/, `$1\n\n${list}\n\n$2`);
}

interface SettingSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function settingsSection({ settings, shorthand, name }: ComponentDefinition): string {
  const { properties, required = [], description } = settings as SettingSchema;
  if (settingKind(settings) === 'assignments') return `## Settings\n\n${description ?? ''}`;
  const rows = Object.entries(properties ?? {}).map(([setting, schema]) => {
    const { description: meaning = '', default: preset } = schema as SettingSchema;
    const fallback =
      preset === undefined ? (required.includes(setting) ? 'required' : '') : code(JSON.stringify(preset));
    return [code(setting), typeText(schema), fallback, meaning];
  });
  if (rows.length === 0) return '';
  const short = shorthand === undefined ? '' : `\n\nA single value means \`${shorthand}\`: \`${name}: ...\`.`;
  return `## Settings\n\n${table(['Setting', 'Type', 'Default', 'Meaning'], rows)}${short}`;
}

function exitsSection({ exits, openExits }: ComponentDefinition): string {
  const open = openExits ? [['named by you', openExits.description, '']] : [];
  const rows = Object.entries(exits).map(([exit, { description, otherwise, when }]) => [
    code(exit),
    description,
    otherwise === undefined
      ? when
        ? 'must be named where the settings allow it'
        : 'must be named'
      : otherwise === END
        ? 'the run ends'
        : `as ${code(otherwise)}`,
  ]);
  const error = [
    code('error'),
    'The block failed; `error.code` says why, see [errors](../../docs/scenarios/errors.md).',
    'the run fails, `finally` follows',
  ];
  return `## Exits\n\n${table(['Exit', 'When', 'If not named'], [...open, ...rows, error])}`;
}

function resultsSection({ results }: ComponentDefinition): string {
  const rows = Object.entries(results).map(([field, { type, description, values }]) => [
    code(field),
    values === undefined ? type : values.map(code).join(', '),
    description,
  ]);
  return rows.length === 0
    ? ''
    : `## Results\n\nRead as \`blockname.field\`.\n\n${table(['Field', 'Type', 'Meaning'], rows)}`;
}

function typeText(schema: TSchema): string {
  const kind = settingKind(schema);
  if (kind === 'condition') return 'condition';
  if (kind !== undefined) return kind;
  const { type = 'any', enum: values, anyOf, minimum, maximum } = schema as SettingSchema;
  if (values) return values.map((value) => code(String(value))).join(', ');
  if (anyOf) return anyOf.map(typeText).join(' or ');
  if (type === 'array') return `list of ${typeText((schema as { items?: TSchema }).items ?? {})}s`;
  return minimum === undefined || maximum === undefined ? type : `${type}, ${minimum} to ${maximum}`;
}

/** A table with padded columns, as formatters want it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}
