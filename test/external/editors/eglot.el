;; What Emacs with eglot gets from the language server, as one line of JSON: each question that WRIT_ASKS holds, and what its own
;; commands make of diagnostics, a fix, a definition, a rename and formatting.  -*- lexical-binding: t -*-

(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*"))
  (add-to-list 'load-path folder))
(require 'eglot)
(require 'json)
(require 'xref)

(define-derived-mode writ-mode prog-mode "Writ")
(dolist (name '("\\.policy\\'" "\\.test\\.yaml\\'" "/writ\\.yaml\\'"))
  (add-to-list 'auto-mode-alist (cons name 'writ-mode)))
(setq eglot-sync-connect 20
      eglot-server-programs
      (list (cons 'writ-mode (append (json-read-from-string (getenv "WRIT_COMMAND")) nil))))

(defun writ-wait (done)
  "Waits until DONE says so, for a minute at most."
  (let ((tries 1200))
    (while (and (> tries 0) (not (funcall done)))
      (accept-process-output nil 0.05)
      (setq tries (1- tries)))))

(defvar writ-said (make-hash-table :test 'equal) "What the server has said last, by the end of the address of a file.")
(cl-defmethod eglot-handle-notification :after
  (_server (_method (eql textDocument/publishDiagnostics)) &key uri diagnostics &allow-other-keys)
  (puthash (file-name-nondirectory uri) (append diagnostics nil) writ-said))

(defun writ-of (name severity)
  "What is said of the file NAME with SEVERITY."
  (seq-filter (lambda (one) (eql severity (plist-get one :severity))) (gethash name writ-said)))

(defun writ-shown (name)
  (vconcat (mapcar (lambda (one)
                     (list :line (plist-get (plist-get (plist-get one :range) :start) :line)
                           :code (or (plist-get one :code) "")))
                   (writ-of name 1))))

(setq default-directory (file-name-as-directory (getenv "WRIT_FOLDER")))
(setq project-find-functions (list (lambda (_dir) (cons 'transient (getenv "WRIT_FOLDER")))))
(defvar writ-buffers nil "By the name of their file.")
(seq-doseq (name (json-parse-string (getenv "WRIT_FILES")))
  (find-file (expand-file-name name (getenv "WRIT_FOLDER")))
  (unless writ-buffers (apply #'eglot--connect (eglot--guess-contact)))
  (eglot--maybe-activate-editing-mode)
  (push (cons (file-name-nondirectory name) (current-buffer)) writ-buffers))

(defun writ-buffer (name) (cdr (assoc name writ-buffers)))
(defun writ-text (name)
  (with-current-buffer (writ-buffer name) (buffer-substring-no-properties (point-min) (point-max))))

(defun writ-ask (method params)
  (jsonrpc-request (eglot-current-server) (intern (concat ":" method)) params :timeout 60))

(switch-to-buffer (writ-buffer "rules.policy"))
(let (diagnostics settings mended tests answers changes definition renamed)
  (writ-wait (lambda () (and (writ-of "rules.policy" 1) (writ-of "writ.yaml" 1))))
  (setq diagnostics (writ-shown "rules.policy") settings (writ-shown "writ.yaml"))
  ;; The fix that the server offers mends the mistake.
  (goto-char (point-min))
  (search-forward "vendr")
  (let ((actions (writ-ask "textDocument/codeAction"
                           (list :textDocument (eglot--TextDocumentIdentifier)
                                 :range (list :start (eglot--pos-to-lsp-position (line-beginning-position))
                                              :end (eglot--pos-to-lsp-position (line-end-position)))
                                 :context (list :diagnostics [])))))
    (eglot--apply-workspace-edit (plist-get (aref actions 0) :edit)))
  (eglot--signal-textDocument/didChange)
  (writ-wait (lambda () (and (null (writ-of "rules.policy" 1)) (writ-of "rules.test.yaml" 1))))
  (setq mended (length (writ-of "rules.policy" 1)) tests (writ-shown "rules.test.yaml"))
  (seq-doseq (one (json-parse-string (getenv "WRIT_ASKS") :object-type 'plist :null-object nil :false-object :json-false))
    (let ((answer (writ-ask (plist-get one :method) (plist-get one :params))))
      (when (plist-get one :isResolved)
        (setq answer (vconcat (mapcar (lambda (lens)
                                        (if (plist-get lens :command) lens (writ-ask "codeLens/resolve" lens)))
                                      answer))))
      (setq answers (append answers (list (intern (concat ":" (plist-get one :name))) answer)))))
  (writ-wait (lambda () (writ-of "rules.policy" 3)))
  (setq changes (length (writ-of "rules.policy" 3)))
  (goto-char (point-min))
  (search-forward "in vend")
  (setq definition
        (mapcar (lambda (item) (file-name-nondirectory (xref-location-group (xref-item-location item))))
                (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
  (goto-char (point-min))
  (search-forward "allow kno")
  (eglot-rename "usual")
  (setq renamed (string-match-p "payments/usual" (writ-text "rules.test.yaml")))
  (eglot-format-buffer)
  (princ (json-encode (list :diagnostics diagnostics
                            :settings settings
                            :mended mended
                            :tests tests
                            :answers answers
                            :changes changes
                            :definition (vconcat definition)
                            :renamed (if renamed t :json-false)
                            :text (writ-text "rules.policy"))))
  (terpri)
  (dolist (one writ-buffers) (with-current-buffer (cdr one) (set-buffer-modified-p nil))))
