// The messages of the Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol, 1.68) that the
// debugger of decisions takes and sends. Messages that it does not use are left out.

export interface DapRequest {
  readonly seq: number;
  readonly type: 'request';
  readonly command: string;
  readonly arguments?: unknown;
}

export interface DapResponse {
  readonly type: 'response';
  readonly request_seq: number;
  readonly command: string;
  readonly success: boolean;
  readonly message?: string;
  readonly body?: object;
}

export interface DapEvent {
  readonly type: 'event';
  readonly event: string;
  readonly body?: object;
}

export interface DapSource {
  readonly name?: string;
  readonly path?: string;
}

export interface StackFrame {
  readonly id: number;
  readonly name: string;
  readonly source?: DapSource;
  readonly line: number;
  readonly column: number;
  readonly endLine?: number;
  readonly endColumn?: number;
  readonly presentationHint?: 'normal' | 'label' | 'subtle';
}

export interface Breakpoint {
  readonly verified: boolean;
  readonly line?: number;
  readonly source?: DapSource;
  readonly message?: string;
}

export interface DapScope {
  readonly name: string;
  readonly presentationHint?: 'locals' | 'arguments';
  readonly variablesReference: number;
  readonly expensive: boolean;
}

export interface DapVariable {
  readonly name: string;
  readonly value: string;
  readonly variablesReference: number;
  /** The expression that an editor evaluates to show the variable again. */
  readonly evaluateName?: string;
}

/** The optional features of the protocol that the debugger supports. */
export const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsEvaluateForHovers: true,
  supportsStepBack: true,
  supportsRestartRequest: true,
  supportsTerminateRequest: true,
  supportsExceptionInfoRequest: true,
  supportsBreakpointLocationsRequest: true,
  exceptionBreakpointFilters: [
    {
      filter: 'unknown',
      label: 'Unknown conditions',
      description: 'Stops at each unknown part of a condition, with the reason.',
      default: false,
    },
  ],
} as const;
