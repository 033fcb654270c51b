// Finds what keeps a coding agent from running its hooks, in all settings that this user can read: those of the project,
// of the user and of the machine. The names are those of the hosts' own documentation.

import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { readCommentedJson } from '../output/commented-json.ts';
import type { HostName, Service } from './install-hook.ts';

/** Why the hook does not run, one sentence each, with the file that says so. */
export function disabledBy(host: HostName, file: string, service: Service): readonly string[] {
  const files = [...new Set([file, ...settingsOf(host)])];
  return files.flatMap((path) => {
    const text = textIn(path);
    return text === null ? [] : reasonsIn(host, { path, text, isOwn: path === file }, service);
  });
}

interface Settings {
  readonly path: string;
  readonly text: string;
  /** Whether the hook stands in this file. */
  readonly isOwn: boolean;
}

function reasonsIn(host: HostName, { path, text, isOwn }: Settings, service: Service): readonly string[] {
  if (path.endsWith('.toml'))
    return hooksOff.test(text)
      ? [`${path} turns hooks off (\`[features] hooks = false\`)`]
      : managedOnly(path, text);
  const settings = objectIn(text);
  if (settings === null) return [];
  const reasons = isTrue(settings.disableAllHooks) ? [`${path} has \`"disableAllHooks": true\``] : [];
  if (host === 'claude-code') reasons.push(...ofClaude(path, settings, { isOwn, service }));
  if (host === 'gemini') reasons.push(...ofGemini(path, settings));
  return reasons;
}

const hooksOff = /^\s*(features\.)?(codex_)?hooks\s*=\s*false\b/m;

function managedOnly(path: string, text: string): readonly string[] {
  return /^\s*allow_managed_hooks_only\s*=\s*true\b/m.test(text)
    ? [`${path} allows only managed hooks (\`allow_managed_hooks_only\`)`]
    : [];
}

interface HookEntry {
  readonly isOwn: boolean;
  readonly service: Service;
}

function ofClaude(path: string, settings: JsonObject, { isOwn, service }: HookEntry): readonly string[] {
  const { allowManagedHooksOnly, allowedHttpHookUrls: urls, httpHookAllowedEnvVars: names } = settings;
  const reasons: string[] = [];
  if (isTrue(allowManagedHooksOnly) && !isOwn)
    reasons.push(`${path} allows only managed hooks (\`allowManagedHooksOnly\`): add the hook there`);
  if (service.url === null) return reasons;
  const address = new URL('/v1/hooks/claude-code', service.url).href;
  if (Array.isArray(urls) && !urls.some((url) => isMatch(String(url), address)))
    reasons.push(`${path} allows hooks to call only other addresses (\`allowedHttpHookUrls\`)`);
  if (Array.isArray(names) && !names.includes('WRIT_API_KEY'))
    reasons.push(`${path} does not allow hooks to send WRIT_API_KEY (\`httpHookAllowedEnvVars\`)`);
  return reasons;
}

function ofGemini(path: string, { hooksConfig, hooks, tools }: JsonObject): readonly string[] {
  const reasons: string[] = [];
  for (const [name, config] of [
    ['hooksConfig', hooksConfig],
    ['hooks', hooks],
  ] as const) {
    if (!isJsonObject(config)) continue;
    if (config.enabled === false) reasons.push(`${path} has \`"enabled": false\` in \`${name}\``);
    if (
      Array.isArray(config.disabled) &&
      config.disabled.some((one) => /^(writ$|writ hook )/.test(String(one)))
    )
      reasons.push(`${path} turns off the hook \`writ\` in \`${name}.disabled\``);
  }
  if (isJsonObject(tools) && tools.enableHooks === false)
    reasons.push(`${path} has \`"enableHooks": false\` in \`tools\``);
  return reasons;
}

/** Whether an address is of a pattern, in which `*` stands for any text. */
function isMatch(pattern: string, address: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^$()|[\]{}\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(address);
}

function isTrue(value: Json | undefined): boolean {
  return value === true || value === 'true';
}

function settingsOf(host: HostName): readonly string[] {
  const home = (path: string) => join(process.env.HOME ?? homedir(), path);
  const {
    CLAUDE_CONFIG_DIR: claude = home('.claude'),
    CODEX_HOME: codex = home('.codex'),
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: gemini,
  } = process.env;
  switch (host) {
    case 'claude-code':
      return [
        ...['.claude/settings.json', '.claude/settings.local.json', join(claude, 'settings.json')],
        ...machineFolders('ClaudeCode', 'claude-code').flatMap((folder) => [
          join(folder, 'managed-settings.json'),
          ...filesIn(join(folder, 'managed-settings.d')),
        ]),
      ];
    case 'codex':
      return [
        ...['.codex/hooks.json', '.codex/config.toml', join(codex, 'hooks.json'), join(codex, 'config.toml')],
        ...['/etc/codex/config.toml', '/etc/codex/requirements.toml', '/etc/codex/managed_config.toml'],
      ];
    case 'gemini':
      return [
        ...['.gemini/settings.json', home('.gemini/settings.json')],
        ...(gemini === undefined ? [] : [gemini]),
        ...machineFolders('GeminiCli', 'gemini-cli').flatMap((folder) => [
          join(folder, 'settings.json'),
          join(folder, 'system-defaults.json'),
        ]),
      ];
    case 'cursor':
      return [
        ...['.cursor/hooks.json', home('.cursor/hooks.json')],
        ...machineFolders('Cursor', 'cursor').map((folder) => join(folder, 'hooks.json')),
      ];
  }
}

/** Where the settings for all users of a machine are. */
function machineFolders(name: string, unix: string): readonly string[] {
  switch (process.platform) {
    case 'darwin':
      return [`/Library/Application Support/${name}`];
    case 'win32':
      return [`C:\\Program Files\\${name}`, `C:\\ProgramData\\${name}`];
    default:
      return [`/etc/${unix}`];
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function textIn(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function objectIn(text: string): JsonObject | null {
  try {
    const value = readCommentedJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
