// Joins several texts of metrics into one: metrics of one name stand together, and a label tells which text
// each sample is from.

const sampleLine = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/;

/** The joined text. `texts` are in the form of `MetricRegistry.text`, by the value of the label. */
export function mergeMetrics(label: string, texts: ReadonlyMap<number, string>): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const [value, text] of [...texts].sort(([a], [b]) => a - b)) {
    let family = { head: [] as string[], samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+) /.exec(line)?.[1];
      if (name !== undefined) {
        family = families.get(name) ?? { head: [], samples: [] };
        families.set(name, family);
      }
      if (line.startsWith('#')) {
        if (!family.head.includes(line)) family.head.push(line);
      } else if (line !== '') family.samples.push(labelled(line, `${label}="${value}"`));
    }
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n`;
}

function labelled(line: string, label: string): string {
  const [, name, labels, value] = sampleLine.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  return `${name}{${labels === undefined ? '' : `${labels},`}${label}} ${value}`;
}
