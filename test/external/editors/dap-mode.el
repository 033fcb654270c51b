;; What Emacs with dap-mode gets from the debugger, as one line of JSON: where it stops and at which line, as it starts, at a
;; breakpoint, a part further in, and a part further on; what an expression is there; and that the decision ends it.
;; -*- lexical-binding: t -*-

;; Emacs may be one that compiles what it loads, on a machine without what it compiles with.
(setq comp-enable-subr-trampolines nil
      native-comp-enable-subr-trampolines nil)
(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
  (add-to-list 'load-path folder))
(defvar writ-folder (file-name-as-directory (getenv "WRIT_FOLDER")))
(setq default-directory writ-folder
      lsp-session-file (expand-file-name "sessions")
      dap-breakpoints-file (expand-file-name "breakpoints")
      dap-utils-extension-path writ-folder)
(require 'dap-mode)
(require 'json)
;; Of its windows, which a run without a screen does not load.
(defvar dap-exception-breakpoints nil)

(define-derived-mode writ-mode prog-mode "Writ")
(add-to-list 'auto-mode-alist '("\\.policy\\'" . writ-mode))
(dap-register-debug-provider "writ" #'identity)

(defun writ-wait (done)
  "Waits until DONE says so, for a minute at most."
  (let ((tries 1200))
    (while (and (> tries 0) (not (funcall done)))
      (accept-process-output nil 0.05)
      (setq tries (1- tries)))))

(defvar writ-frames nil "Where it has stopped, the latest first.")
(add-hook 'dap-stack-frame-changed-hook
          (lambda (session)
            (let ((frame (dap--debug-session-active-frame session)))
              (when frame (push (list :name (gethash "name" frame) :line (gethash "line" frame)) writ-frames)))))
(defvar writ-ended nil)
(add-hook 'dap-terminated-hook (lambda (_session) (setq writ-ended t)))

(defun writ-after (act)
  "Where it stops after ACT."
  (setq writ-frames nil)
  (funcall act)
  (writ-wait (lambda () writ-frames))
  (car writ-frames))

(defun writ-value (expression)
  (let (value)
    (dap--send-message
     (dap--make-request
      "evaluate"
      (list :expression expression
            :frameId (gethash "id" (dap--debug-session-active-frame (dap--cur-session)))
            :context "watch"))
     (lambda (answer) (setq value (gethash "result" (gethash "body" answer))))
     (dap--cur-session))
    (writ-wait (lambda () value))
    value))

(find-file "policies/rules.policy")
(search-forward "deny much")
(forward-line 1)
(dap-breakpoint-toggle)
(let* ((session #'dap--cur-session)
       (thread (lambda () (dap--debug-session-thread-id (funcall session))))
       (continue (lambda () (dap-continue (funcall session) (funcall thread))))
       (entry (writ-after
               (lambda ()
                 (dap-start-debugging
                  (list :type "writ" :request "launch" :name "request" :decide "request.json" :cwd writ-folder
                        :dap-server-path (append (json-read-from-string (getenv "WRIT_COMMAND")) nil))))))
       (breakpoint (writ-after continue))
       (in (writ-after (lambda () (dap-step-in (funcall session)))))
       (value (writ-value "payload.amount * 2"))
       (next (writ-after (lambda () (dap-next (funcall session))))))
  (funcall continue)
  (writ-wait (lambda () writ-ended))
  (message "%s" (json-encode (list :entry entry :breakpoint breakpoint :in in :value value :next next
                                   :ended (if writ-ended t json-false)))))
