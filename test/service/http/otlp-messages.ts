// The messages of the OpenTelemetry protocol that carry traces, as opentelemetry-proto 1.x defines them
// (`collector/trace/v1`, `trace/v1`, `common/v1`, `resource/v1`), and what is wrong with a JSON value as one of
// them. The JSON form is that of protobuf with three rules of the protocol: ids are hexadecimal, enumerations are
// numbers, names are lower camel case.

type FieldType =
  | 'string'
  | 'bool'
  | 'double'
  | '32 bits'
  | '64 bits'
  | 'trace id'
  | 'span id'
  | { readonly message: MessageName }
  | { readonly list: MessageName };

type MessageName = keyof typeof messages;

const messages = {
  ExportTraceServiceRequest: { resourceSpans: { list: 'ResourceSpans' } },
  ResourceSpans: {
    resource: { message: 'Resource' },
    scopeSpans: { list: 'ScopeSpans' },
    schemaUrl: 'string',
  },
  Resource: { attributes: { list: 'KeyValue' }, droppedAttributesCount: '32 bits' },
  ScopeSpans: { scope: { message: 'InstrumentationScope' }, spans: { list: 'Span' }, schemaUrl: 'string' },
  InstrumentationScope: {
    name: 'string',
    version: 'string',
    attributes: { list: 'KeyValue' },
    droppedAttributesCount: '32 bits',
  },
  Span: {
    traceId: 'trace id',
    spanId: 'span id',
    traceState: 'string',
    parentSpanId: 'span id',
    flags: '32 bits',
    name: 'string',
    kind: '32 bits',
    startTimeUnixNano: '64 bits',
    endTimeUnixNano: '64 bits',
    attributes: { list: 'KeyValue' },
    droppedAttributesCount: '32 bits',
    events: { list: 'Event' },
    droppedEventsCount: '32 bits',
    links: { list: 'Link' },
    droppedLinksCount: '32 bits',
    status: { message: 'Status' },
  },
  Event: {
    timeUnixNano: '64 bits',
    name: 'string',
    attributes: { list: 'KeyValue' },
    droppedAttributesCount: '32 bits',
  },
  Link: {
    traceId: 'trace id',
    spanId: 'span id',
    traceState: 'string',
    attributes: { list: 'KeyValue' },
    droppedAttributesCount: '32 bits',
    flags: '32 bits',
  },
  Status: { message: 'string', code: '32 bits' },
  KeyValue: { key: 'string', value: { message: 'AnyValue' } },
  AnyValue: {
    stringValue: 'string',
    boolValue: 'bool',
    intValue: '64 bits',
    doubleValue: 'double',
    arrayValue: { message: 'ArrayValue' },
    kvlistValue: { message: 'KeyValueList' },
    bytesValue: 'string',
  },
  ArrayValue: { values: { list: 'AnyValue' } },
  KeyValueList: { values: { list: 'KeyValue' } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What is wrong with a value as a message of this name, one line each. */
export function faultsOf(name: string, value: unknown, path = ''): readonly string[] {
  const fields = (messages as Readonly<Record<string, Readonly<Record<string, FieldType>>>>)[name] ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no ${name}`];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const type = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return type === undefined ? [`${at} is no field of ${name}`] : faultsOfField(type, inner, at);
  });
}

function faultsOfField(type: FieldType, value: unknown, at: string): readonly string[] {
  const unless = (isRight: boolean, what: string) => (isRight ? [] : [`${at} is not ${what}`]);
  const isHex = (digits: number) =>
    typeof value === 'string' && new RegExp(`^[0-9a-f]{${digits}}$`).test(value) && !/^0+$/.test(value);
  if (typeof type === 'object') {
    if ('message' in type) return faultsOf(type.message, value, at);
    if (!Array.isArray(value)) return [`${at} is not a list`];
    return value.flatMap((one, index) => faultsOf(type.list, one, `${at}[${index}]`));
  }
  switch (type) {
    case 'string':
      return unless(typeof value === 'string', 'text');
    case 'bool':
      return unless(typeof value === 'boolean', 'true or false');
    case 'double':
      return unless(typeof value === 'number', 'a number');
    case '32 bits':
      return unless(
        typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32,
        'a number of 32 bits',
      );
    case '64 bits':
      return unless(typeof value === 'string' && /^-?\d{1,20}$/.test(value), 'a 64-bit number as text');
    case 'trace id':
      return unless(isHex(32), '32 hexadecimal digits');
    case 'span id':
      return unless(isHex(16), '16 hexadecimal digits');
  }
}
